-- What an extraction needs: an engine, a price, and consent.

create table public.extraction_engines (
  key text primary key,
  label text not null,
  needs_consent boolean not null,
  cents_per_page numeric(10, 4) not null,
  constraint price_is_not_negative check (cents_per_page >= 0)
);

comment on table public.extraction_engines is
  'What extracts the text of documents. An engine that needs consent sends them to a third party.';
comment on column public.extraction_engines.cents_per_page is 'For estimates and records; set it to what you pay.';

insert into public.extraction_engines (key, label, needs_consent, cents_per_page)
values
  ('local', 'In the function itself', false, 0),
  ('unstructured_fast', 'Unstructured, text only', true, 3),
  ('unstructured_hires', 'Unstructured, with layout and images', true, 3);

select tickwork.guard_table(
  'public.extraction_engines', signed_in => 'select', service => 'select, insert, update', queue => 'select'
);

create function tickwork.estimated_pages(document public.documents)
returns integer
language sql
immutable
return coalesce(
  (document).page_count,
  greatest(1, ceil((document).size / case
    when (document).mime_type = 'application/pdf' then 50000.0
    when (document).mime_type like 'application/vnd.openxmlformats%' then 20000.0
    -- This is how Unstructured bills files without pages.
    else 100000.0
  end))::integer
);

create function tickwork.extraction_engine(engine text)
returns public.extraction_engines
language plpgsql
stable
set search_path = ''
as $$
declare
  found_engine public.extraction_engines;
begin
  select * into found_engine
  from public.extraction_engines
  where extraction_engines.key = extraction_engine.engine;

  if not found then
    raise exception 'engine: there is no engine %', quote_nullable(extraction_engine.engine)
      using errcode = 'TWARG', hint = 'Use one from extraction_engines: local, unstructured_fast, unstructured_hires.';
  end if;

  return found_engine;
end
$$;

create function public.estimate_extraction(document_id uuid, engine text default 'local')
returns table (pages integer, cost_cents integer, needs_consent boolean, is_exact boolean)
language plpgsql
stable
set search_path = ''
as $$
declare
  asked_for constant public.extraction_engines := tickwork.extraction_engine(estimate_extraction.engine);
begin
  return query
  select
    tickwork.estimated_pages(documents),
    ceil(tickwork.estimated_pages(documents) * asked_for.cents_per_page)::integer,
    asked_for.needs_consent,
    documents.page_count is not null
  from public.documents
  where documents.id = estimate_extraction.document_id;

  if not found then
    raise exception 'document_id: there is no document %', coalesce(estimate_extraction.document_id::text, 'null')
      using errcode = 'TWDOC', hint = 'document_overview shows the documents that you may see.';
  end if;
end
$$;

comment on function public.estimate_extraction is
  'Reads what an extraction would cost: pages (exact if they have been counted), their price, and whether consent is '
  'needed. Raises TWDOC, TWARG.';

create function tickwork.request_extraction(document_id uuid, engine text, consent boolean, priority integer)
returns public.extractions
language plpgsql
volatile
security definer -- clients may not insert extractions: consent is given here or not at all
set search_path = ''
as $$
declare
  document constant public.documents := tickwork.lock_document_for_caller(request_extraction.document_id);
  asked_for constant public.extraction_engines := tickwork.extraction_engine(request_extraction.engine);
  extraction public.extractions;
  job tickwork.enqueued_jobs;
begin
  if asked_for.needs_consent and request_extraction.consent is not true then
    raise exception 'consent: % sends the document to a third party', asked_for.label
      using errcode = 'TWCON', hint = 'Get consent and call again with consent => true, or use the engine local.';
  end if;

  job := tickwork.enqueue_job(tickwork.new_job(
    document.tenant_id,
    'extract_document',
    jsonb_build_object('document_id', document.id, 'engine', asked_for.key),
    priority => request_extraction.priority,
    dedupe_key => 'extract ' || document.id || ' ' || asked_for.key
  ));

  -- Any member of the tenant may have given that key to another job.
  if job.type <> 'extract_document' or job.payload ->> 'document_id' <> document.id::text then
    raise exception 'document_id: another job holds the dedupe_key %', quote_literal(job.dedupe_key)
      using errcode = 'TWDUP', hint = 'Try again when that job has ended.';
  end if;

  select * into extraction
  from public.extractions
  where extractions.job_id = job.id;

  if found then
    return extraction;
  end if;

  insert into public.extractions (
    tenant_id, document_id, job_id, engine, consent_given_at, consent_given_by, estimated_pages, estimated_cost_cents
  )
  values (
    document.tenant_id,
    document.id,
    job.id,
    asked_for.key,
    case when asked_for.needs_consent then clock_timestamp() end,
    case when asked_for.needs_consent then tickwork.caller_id() end,
    tickwork.estimated_pages(document),
    ceil(tickwork.estimated_pages(document) * asked_for.cents_per_page)::integer
  )
  returning * into extraction;

  return extraction;
end
$$;

create function public.request_extraction(
  document_id uuid,
  engine text default 'local',
  consent boolean default false,
  priority integer default null
)
returns public.extractions
language sql
volatile
return tickwork.request_extraction(document_id, engine, consent, priority);

comment on function public.request_extraction is
  '-> queued. Has the text of a document extracted: records who consented and the estimated cost, and enqueues '
  'extract_document. While such a job is queued or running, a second request returns the same extraction. Raises '
  'TWDOC, TWARG, TWCON, TWDUP and what enqueue_job raises.';

create function tickwork.end_extractions(job_ids uuid[])
returns void
language plpgsql
volatile
as $$
begin
  -- Usually there is none: then nothing else is looked up, however many jobs have ended.
  update public.extractions
  set
    status = 'failed',
    (error_code, error_message) = (
      select
        coalesce(nullif(upper(jobs.status), 'FAILED'), jobs.error_code),
        coalesce(extractions.error_message, jobs.error_message)
      from public.jobs
      where jobs.id = extractions.job_id
    ),
    finished_at = clock_timestamp()
  where extractions.job_id = any (end_extractions.job_ids)
    and extractions.status in ('queued', 'running')
    and (select jobs.status from public.jobs where jobs.id = extractions.job_id) in ('failed', 'dead', 'cancelled');
end
$$;

comment on function tickwork.end_extractions is
  'Marks extractions as failed whose job has ended without success, whether or not its handler could do so.';

insert into tickwork.hooks (moment, function_name)
values ('end', 'end_extractions')
on conflict do nothing;

create view public.document_overview
with (security_invoker = true)
as
select
  documents.*,
  latest.id as extraction_id,
  latest.engine,
  latest.status as extraction_status,
  latest.error_code,
  latest.error_message,
  jobs.progress,
  jobs.progress_message,
  (latest.result_json ->> 'chunk_count')::integer as chunk_count,
  latest.result_json -> 'not_read' as not_read
from public.documents
left join lateral (
  select *
  from public.extractions
  where extractions.document_id = documents.id
  order by coalesce(extractions.started_at, extractions.created_at) desc
  limit 1
) as latest on true
left join public.jobs on jobs.id = latest.job_id;

comment on view public.document_overview is
  'Each document with its latest extraction and its progress. Row-level security decides which rows are visible.';

revoke all on public.document_overview from public, anon, authenticated, service_role;
grant select on public.document_overview to authenticated, service_role;

select tickwork.open_verbs('authenticated, service_role', array[
  'estimated_pages', 'extraction_engine', 'estimate_extraction', 'request_extraction'
]);

-- A file may keep a processor busy for minutes: so many at once for each tenant, so that the others get one too.
insert into public.job_types (key, family, description, timeout_seconds, max_running_per_tenant, enqueued_by)
values ('extract_document', 'extract', 'Turn a file of the vault into searchable text', 600, 3, 'member');
