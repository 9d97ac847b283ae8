-- What the payloads of our own types have to look like, made by `make schemas` from the payload models of the handlers.

update public.job_types
set payload_schema = '{
  "type": "object",
  "required": ["document_id"],
  "properties": {"document_id": {"type": "string", "format": "uuid"}}
}'
where job_types.key in ('classify_document');

update public.job_types
set payload_schema = '{
  "type": "object",
  "required": ["document_id"],
  "properties": {
    "document_id": {"type": "string", "format": "uuid"},
    "engine": {"type": ["string", "null"], "enum": ["local", "unstructured_fast", "unstructured_hires", null]}
  }
}'
where job_types.key in ('extract_document');
