-- What the payloads of our own types have to look like, made by `make schemas` from the payload models of the handlers.

update public.job_types
set payload_schema = shipped.schema
from (
  values
    (array['classify_document'], jsonb '{
      "type": "object",
      "required": ["document_id"],
      "properties": {"document_id": {"type": "string", "format": "uuid"}}
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
    }')
) as shipped(types, schema)
where job_types.key = any (shipped.types);
