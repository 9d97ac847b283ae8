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
    (array['classify_document'], jsonb '{
      "type": "object",
      "required": ["document_id"],
      "properties": {"document_id": {"type": "string", "format": "uuid"}}
    }'),
    (array['deliver_webhook'], jsonb '{
      "type": "object",
      "required": ["webhook_delivery_id"],
      "properties": {"webhook_delivery_id": {"type": "string", "format": "uuid"}}
    }'),
    (array['extract_document'], jsonb '{
      "type": "object",
      "required": ["document_id"],
      "properties": {
        "document_id": {"type": "string", "format": "uuid"},
        "engine": {
          "type": ["string", "null"],
          "enum": ["local", "unstructured_fast", "unstructured_hires", null]
        }
      }
    }'),
    (array['http_request'], jsonb '{
      "type": "object",
      "required": ["url"],
      "properties": {
        "method": {"type": "string", "enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]},
        "url": {"type": "string"},
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
        "body": {},
        "expected_status": {"type": "array", "items": {"type": "integer", "minimum": 200, "maximum": 599}},
        "redirects": {"type": "integer", "minimum": 0, "maximum": 3}
      },
      "additionalProperties": false
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
