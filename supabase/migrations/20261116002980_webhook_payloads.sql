-- What the payloads of our own types have to look like, made by `make schemas` from the payload models of the handlers.

update public.job_types
set payload_schema = shipped.schema
from (
  values
    (array['deliver_webhook'], jsonb '{
      "type": "object",
      "required": ["webhook_delivery_id"],
      "properties": {"webhook_delivery_id": {"type": "string", "format": "uuid"}}
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
    }')
) as shipped(types, schema)
where job_types.key = any (shipped.types);
