-- What the payloads of our own types have to look like, made by `make schemas` from the payload models of the handlers.

update public.job_types
set payload_schema = shipped.schema
from (
  values
    (array['check_connector', 'watch_connector'], jsonb '{
      "type": "object",
      "required": ["connector_id"],
      "properties": {"connector_id": {"type": "string", "format": "uuid"}}
    }'),
    (array['import_dropbox', 'import_gdrive', 'import_onedrive'], jsonb '{
      "type": "object",
      "required": ["connector_id"],
      "properties": {
        "connector_id": {"type": "string", "format": "uuid"},
        "remote_path": {"type": ["string", "null"]},
        "files": {"type": ["array", "null"], "items": {"type": "string"}},
        "continues": {"type": ["string", "null"], "format": "uuid"}
      }
    }')
) as shipped(types, schema)
where job_types.key = any (shipped.types);
