-- What the payloads of our own types have to look like, made by `make schemas` from the payload models of the handlers.

update public.job_types
set payload_schema = '{
  "type": "object",
  "required": ["connector_id"],
  "properties": {"connector_id": {"type": "string", "format": "uuid"}}
}'
where job_types.key in ('check_connector', 'watch_connector');

update public.job_types
set payload_schema = '{
  "type": "object",
  "required": ["connector_id"],
  "properties": {
    "connector_id": {"type": "string", "format": "uuid"},
    "remote_path": {"type": ["string", "null"]},
    "files": {"type": ["array", "null"], "items": {"type": "string"}},
    "continues": {"type": ["string", "null"], "format": "uuid"}
  }
}'
where job_types.key in ('import_dropbox', 'import_gdrive', 'import_onedrive');
