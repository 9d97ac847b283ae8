-- What kinds of document there are, what speaks for each, and what members have taught.

create function tickwork.is_evidence(evidence jsonb)
returns boolean
language sql
immutable
set search_path = ''
as $$
  select case jsonb_typeof(is_evidence.evidence)
    when 'object' then
      octet_length(is_evidence.evidence::text) <= 65536
      and not jsonb_path_exists(is_evidence.evidence, 'strict $.* ? (@.type() != "number" || @ < -20 || @ > 20)')
    else false
  end;
$$;

comment on function tickwork.is_evidence is
  'Whether the value is an object of weights between -20 and 20, and of a size that can be read for every document.';

create table public.document_types (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid references public.organizations (id) on delete cascade,
  key text not null,
  label text not null,
  label_en text,
  node text,
  evidence jsonb not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint key_is_a_word check (key ~ '^[a-z][a-z0-9_]{0,99}$'),
  constraint label_is_1_to_200_characters check (length(label) between 1 and 200),
  constraint node_is_1_to_500_characters check (length(node) between 1 and 500),
  constraint evidence_is_weighed check (tickwork.is_evidence(evidence)),
  constraint key_is_unique_in_its_tenant unique nulls not distinct (tenant_id, key)
);

comment on table public.document_types is
  'The kinds of document: those that every tenant has, and its own on top, which replace those of the same key.';
comment on column public.document_types.tenant_id is 'Whose type it is; null is everybody''s.';
comment on column public.document_types.node is 'The folder that is suggested for such documents.';
comment on column public.document_types.evidence is
  'Words and phrases with how much each speaks for the type, from 0.5 (a little) over 1.5 to 3 (decides alone), or '
  'against it if negative. "mietvertr" is all words that begin so, "*vertrag" all that contain it, "^rechnung" one in '
  'a heading or the file''s name. What a tenant''s own type says is added to what the type of the same key says.';

create trigger note_update
before update on public.document_types
for each row
execute function tickwork.note_update();

create table public.document_words (
  document_id uuid primary key,
  tenant_id uuid not null,
  words text[] not null,
  constraint document_is_the_tenants_own foreign key (tenant_id, document_id)
    references public.documents (tenant_id, id) on delete cascade,
  constraint words_are_at_most_600 check (cardinality(words) <= 600)
);

comment on table public.document_words is 'What the classifier saw of each document, to compare later ones with.';

create index document_words_of_a_tenant on public.document_words (tenant_id);

create table public.document_corrections (
  document_id uuid primary key,
  tenant_id uuid not null,
  doc_type text not null,
  corrected_by uuid,
  corrected_at timestamptz not null default clock_timestamp(),
  constraint document_is_the_tenants_own foreign key (tenant_id, document_id)
    references public.documents (tenant_id, id) on delete cascade
);

comment on table public.document_corrections is
  'What members said that documents are. The newest teach the classifier, for their tenant only.';
comment on column public.document_corrections.corrected_by is 'The member; null is the service.';

create index document_corrections_by_age on public.document_corrections (tenant_id, corrected_at);

select tickwork.guard_table(
  'public.document_types',
  members => 'select', worker => 'select', service => 'select, insert, update, delete', queue => 'select'
);
select tickwork.guard_table(
  'public.document_words',
  members => 'select', worker => 'select, insert, update', service => 'select, insert, update, delete', queue => null
);
select tickwork.guard_table(
  'public.document_corrections',
  members => 'select', worker => 'select', service => 'select, insert, update, delete',
  queue => 'select, insert, update'
);

create policy everybody_signed_in_reads_common_types on public.document_types
for select to authenticated, tickwork_worker
using (tenant_id is null);

create function tickwork.correct_document_type(document_id uuid, doc_type text)
returns public.documents
language plpgsql
volatile
security definer -- members may not update documents themselves
set search_path = ''
as $$
declare
  document public.documents := tickwork.lock_document_for_caller(correct_document_type.document_id);
  chosen public.document_types;
begin
  select * into chosen
  from public.document_types
  where document_types.key = correct_document_type.doc_type
    and (document_types.tenant_id = document.tenant_id or document_types.tenant_id is null)
  order by document_types.tenant_id nulls last
  limit 1;

  if not found then
    raise exception 'doc_type: there is no document type %', quote_nullable(left(correct_document_type.doc_type, 100))
      using errcode = 'TWTYD', hint = 'document_types lists those that you may use.';
  end if;

  insert into public.document_corrections (document_id, tenant_id, doc_type, corrected_by)
  values (document.id, document.tenant_id, chosen.key, tickwork.caller_id())
  on conflict on constraint document_corrections_pkey do update
  set
    doc_type = excluded.doc_type,
    corrected_by = excluded.corrected_by,
    corrected_at = clock_timestamp();

  update public.documents
  set
    doc_type = chosen.key,
    doc_type_source = 'member',
    doc_type_confidence = 1,
    node = coalesce(chosen.node, documents.node)
  where documents.id = document.id
  returning documents.* into document;

  return document;
end
$$;

create function public.correct_document_type(document_id uuid, doc_type text)
returns public.documents
language sql
volatile
set search_path = ''
as $$
  select *
  from tickwork.correct_document_type(correct_document_type.document_id, correct_document_type.doc_type);
$$;

comment on function public.correct_document_type is
  'Sets what a document is, on a member''s word, and the folder where such documents belong. From then on the '
  'classifier leaves it alone and learns from it for this tenant. Raises TWDOC, TWTYD.';

-- Whoever writes a type evaluates it.
select tickwork.open_verbs('service_role', array['is_evidence']);
select tickwork.open_verbs('authenticated, service_role', array['correct_document_type']);


-- The types that every tenant has. infra/classifier/train.py writes what stands between the marks.

insert into public.document_types (key, label, label_en, node, evidence)
select *
from jsonb_to_recordset($types$
[{"label": "Mietvertrag", "label_en": "Lease", "node": "tenancies/leases",
  "key": "lease", "evidence": {
  "*mietvertrages zwischen": 3.85, "*pachtvertrag": 3.85, "assured shorthold": 3.85, "commercial lease": 3.85,
  "lease agreement": 3.85, "leihvertrag": 3.85, "rental agreement": 3.85, "residential lease": 3.85,
  "tenancy agreement": 3.85, "*mietvertrag": 3.81, "initial term": 2.47, "lessor": 2.47, "untervermietung": 2.39,
  "mietgegenstand": 2.35, "kaution": 2.34, "vermieter": 2.12, "^*mietvertrag": 1.95, "^*pachtvertrag": 1.93,
  "lessee": 1.93, "^*mietvertrages zwischen": 1.92, "^assured shorthold": 1.92, "^commercial lease": 1.92,
  "^lease agreement": 1.92, "^leihvertrag": 1.92, "^rental agreement": 1.92, "^residential lease": 1.92,
  "^tenancy agreement": 1.92, "sublet": 1.89, "joint several": 1.88, "no pets": 1.88, "tenant shall": 1.88,
  "kleinreparaturen": 1.87, "break clause": 1.85, "dritten werktag": 1.85, "gesamtmiete": 1.85, "grundmiete": 1.85,
  "indexmiete": 1.85, "landlord lets": 1.85, "mietbeginn": 1.85, "mietdauer": 1.85, "mieträume": 1.85,
  "mietsicherheit": 1.85, "mietverhältnis beginnt": 1.85, "mietzeit": 1.85, "mietzins": 1.85, "monthly rent": 1.85,
  "nachmieter": 1.85, "nettokaltmiete": 1.85, "optionsrecht": 1.85, "pachtzins": 1.85, "per calendar month": 1.85,
  "permitted use": 1.85, "quiet enjoyment": 1.85, "rent payable": 1.85, "rent review": 1.85,
  "schönheitsreparaturen": 1.85, "security deposit": 1.85, "staffelmiete": 1.85, "tierhaltung": 1.85,
  "unbestimmte zeit": 1.85, "vermietet wird": 1.85, "werktag": 1.85, "landlord may": 1.84, "verpächter": 1.84,
  "nebenkosten": 1.83, "mietsache": 1.82, "kaltmiete": 1.74, "mieter": 1.67, "wird vermietet": 1.66, "haustier": 1.64,
  "zimmer": 1.48, "monatlich": 1.28, "^kleinreparaturen": 0.95, "^break clause": 0.92, "^dritten werktag": 0.92,
  "^gesamtmiete": 0.92, "^grundmiete": 0.92, "^haustier": 0.92, "^indexmiete": 0.92, "^initial term": 0.92,
  "^joint several": 0.92, "^kaltmiete": 0.92, "^kaution": 0.92, "^landlord lets": 0.92, "^landlord may": 0.92,
  "^lessee": 0.92, "^lessor": 0.92, "^mietbeginn": 0.92, "^mietdauer": 0.92, "^mietgegenstand": 0.92,
  "^mieträume": 0.92, "^mietsache": 0.92, "^mietsicherheit": 0.92, "^mietverhältnis beginnt": 0.92, "^mietzeit": 0.92,
  "^mietzins": 0.92, "^monthly rent": 0.92, "^nachmieter": 0.92, "^nettokaltmiete": 0.92, "^no pets": 0.92,
  "^optionsrecht": 0.92, "^pachtzins": 0.92, "^per calendar month": 0.92, "^permitted use": 0.92,
  "^quiet enjoyment": 0.92, "^rent payable": 0.92, "^rent review": 0.92, "^schönheitsreparaturen": 0.92,
  "^security deposit": 0.92, "^staffelmiete": 0.92, "^sublet": 0.92, "^tenant shall": 0.92, "^tierhaltung": 0.92,
  "^unbestimmte zeit": 0.92, "^untervermietung": 0.92, "^vermietet wird": 0.92, "^verpächter": 0.92, "^werktag": 0.92,
  "^wird vermietet": 0.92, "premises": 0.84, "deposit": 0.8, "tenant": 0.79, "rent": 0.78, "per month": 0.77,
  "stellplatz": 0.77, "untermiet": 0.77, "wohnzwecken": 0.77, "hausordnung": 0.76, "landlord": 0.75, "wohnfläche": 0.7,
  "betrag": 0.48, "mietvertrag": 0.43, "kündig": 0.42, "mehrwertsteuer": 0.37, "schriftlich": 0.34, "kündigung": 0.29,
  "*": 0.21, "netto": 0.21, "renew": 0.21, "bank": 0.2, "property": 0.2, "^zahlbar": 0.19, "zahlbar": 0.19,
  "küche": 0.18, "bad": 0.17, "bis spätestens": 0.17, "fernwärme": 0.17, "mahnung": -1.54, "umlageschlüssel": -1.54,
  "verkäufer": -1.54, "zählerstand": -1.55, "hiermit kündig": -1.61
}},
{"label": "Rechnung", "label_en": "Invoice", "node": "accounting/invoices",
  "key": "invoice", "evidence": {
  "rechnungsbetrag": 4.42, "abschlagsrechnung": 4.05, "^rechnung": 3.96, "rechnungsnummer": 3.93, "rechnungs-nr": 3.86,
  "amount due": 3.85, "gebührenrechnung": 3.85, "gutschrift nr": 3.85, "invoice number": 3.85, "jahresrechnung": 3.85,
  "kostenrechnung": 3.85, "rechnung nr": 3.85, "schlussrechnung": 3.85, "stornorechnung": 3.85, "tax invoice": 3.85,
  "teilrechnung": 3.85, "balance due": 3.84, "invoice no": 3.74, "invoice": 2.13, "^abschlagsrechnung": 2.12,
  "receipt": 2.11, "unit price": 2.05, "^invoice no": 1.95, "^rechnungs-nr": 1.94, "^rechnung nr": 1.93,
  "^amount due": 1.92, "^balance due": 1.92, "^gebührenrechnung": 1.92, "^gutschrift nr": 1.92,
  "^invoice number": 1.92, "^jahresrechnung": 1.92, "^kostenrechnung": 1.92, "^rechnungsbetrag": 1.92,
  "^rechnungsnummer": 1.92, "^schlussrechnung": 1.92, "^stornorechnung": 1.92, "^tax invoice": 1.92,
  "^teilrechnung": 1.92, "kleinmaterial": 1.86, "amount charged": 1.85, "anfahrt": 1.85, "bruttobetrag": 1.85,
  "einzelpreis": 1.85, "endbetrag": 1.85, "erlauben berechnen": 1.85, "gesamtbetrag": 1.85, "kassenbon": 1.85,
  "leistungsdatum": 1.85, "leistungszeitraum": 1.85, "make checks payable": 1.85, "monteur": 1.85, "net days": 1.85,
  "ohne abzug": 1.85, "payment terms": 1.85, "qty": 1.85, "quittung": 1.85, "rechnung stellen": 1.85,
  "rechnungsdatum": 1.85, "remit": 1.85, "reverse charge": 1.85, "skonto": 1.85, "stellen rechnung": 1.85,
  "steuer-nr": 1.85, "steuernummer": 1.85, "total due": 1.85, "ust-idnr": 1.85, "vat reg": 1.85, "wir berechnen": 1.85,
  "zahlbar ohne abzug": 1.85, "zahlungsziel": 1.85, "§ 13": 1.85, "§ 35": 1.85, "bill to": 1.84, "lieferschein": 1.83,
  "arbeitszeit": 1.82, "zahlbar": 1.73, "due date": 1.69, "^invoice": 1.21, "^receipt": 1.19, "^due date": 1.12,
  "^unit price": 1.12, "subtotal": 0.97, "^kleinmaterial": 0.94, "^amount charged": 0.92, "^anfahrt": 0.92,
  "^arbeitszeit": 0.92, "^bill to": 0.92, "^bruttobetrag": 0.92, "^einzelpreis": 0.92, "^endbetrag": 0.92,
  "^erlauben berechnen": 0.92, "^gesamtbetrag": 0.92, "^kassenbon": 0.92, "^leistungsdatum": 0.92,
  "^leistungszeitraum": 0.92, "^make checks payable": 0.92, "^monteur": 0.92, "^net days": 0.92, "^ohne abzug": 0.92,
  "^payment terms": 0.92, "^qty": 0.92, "^quittung": 0.92, "^rechnung stellen": 0.92, "^rechnungsdatum": 0.92,
  "^remit": 0.92, "^reverse charge": 0.92, "^skonto": 0.92, "^stellen rechnung": 0.92, "^steuer-nr": 0.92,
  "^steuernummer": 0.92, "^total due": 0.92, "^ust-idnr": 0.92, "^vat reg": 0.92, "^wir berechnen": 0.92,
  "^zahlbar ohne abzug": 0.92, "^zahlungsziel": 0.92, "^§ 13": 0.92, "^§ 35": 0.92, "^lieferschein": 0.9,
  "mehrwertsteuer": 0.84, "^zahlbar": 0.81, "kunden-nr": 0.79, "menge": 0.79, "nettobetrag": 0.79,
  "umsatzsteuer": 0.79, "vat": 0.79, "rechnung": 0.78, "bankverbindung": 0.77, "kundennummer": 0.77, "pos": 0.77,
  "std": 0.77, "summe netto": 0.77, "thank you for your business": 0.77, "mwst": 0.75, "stunden": 0.74, "zzgl": 0.74,
  "abschlag": 0.73, "netto": 0.54, "*": 0.51, "bic": 0.47, "iban": 0.47, "müll": 0.47, "beurkundung": 0.45,
  "zahlen": 0.44, "notar": 0.43, "sepa": 0.19, "verbrauch": 0.17, "wasser": 0.17, "betrag": 0.16, "kontostand": -1.54,
  "mahnung": -1.54, "overdue": -1.54, "past due": -1.54, "quotation": -1.54, "umlageschlüssel": -1.54,
  "versicherungsnummer": -1.54, "versicherungsteuer": -1.54, "zahlungserinnerung": -1.54, "angebot": -1.55
}},
{"label": "Nebenkostenabrechnung", "label_en": "Utility settlement", "node": "tenancies/settlements",
  "key": "utility_settlement", "evidence": {
  "einzelabrechnung": 4.42, "*betriebskostenabrechnung": 4.14, "*heizkostenabrechnung": 3.91, "ancillary costs": 3.91,
  "verteilerschlüssel": 3.91, "statement service charges": 3.89, "*hausgeldabrechnung": 3.85,
  "*nebenkostenabrechnung": 3.85, "abrechnung betriebskosten": 3.85, "abrechnung heizkosten": 3.85,
  "abrechnung nebenkosten": 3.85, "cam reconciliation": 3.85, "heizkostenverordnung": 3.85,
  "operating cost statement": 3.85, "service charge account": 3.85, "service charge statement": 3.85,
  "statement of operating costs": 3.85, "umlageschlüssel": 3.85, "utilities reconciliation": 3.85,
  "utility settlement": 3.85, "heiz- und": 3.67, "your share": 2.33, "apportion": 2.27, "credit balance": 2.27,
  "vorauszahlungen": 2.23, "^*betriebskostenabrechnung": 2.21, "anteil": 2.21, "^*heizkostenabrechnung": 1.99,
  "nachforderung": 1.97, "^verteilerschlüssel": 1.94, "^*hausgeldabrechnung": 1.92, "^*nebenkostenabrechnung": 1.92,
  "^abrechnung betriebskosten": 1.92, "^abrechnung heizkosten": 1.92, "^abrechnung nebenkosten": 1.92,
  "^ancillary costs": 1.92, "^cam reconciliation": 1.92, "^einzelabrechnung": 1.92, "^heiz- und": 1.92,
  "^heizkostenverordnung": 1.92, "^operating cost statement": 1.92, "^service charge account": 1.92,
  "^service charge statement": 1.92, "^statement of operating costs": 1.92, "^statement service charges": 1.92,
  "^umlageschlüssel": 1.92, "^utilities reconciliation": 1.92, "^utility settlement": 1.92, "abrechnungseinheit": 1.91,
  "allocation key": 1.91, "prepayments": 1.91, "guthaben": 1.89, "umlagefähig": 1.89, "abrechnungsspitze": 1.85,
  "abrechnungszeitraum": 1.85, "additional payment": 1.85, "advance payments": 1.85, "belege eingesehen": 1.85,
  "belegeinsicht": 1.85, "betriebskosten": 1.85, "brennstoffkosten": 1.85, "co2-kosten": 1.85, "gesamtkosten": 1.85,
  "grundkosten": 1.85, "heizkosten": 1.85, "heizkostenverteiler": 1.85, "heizung warmwasser": 1.85, "ihr anteil": 1.85,
  "kalte betriebskosten": 1.85, "kostenart": 1.85, "liegenschaft": 1.85, "nachzahlung": 1.85,
  "neue vorauszahlung": 1.85, "nutzer": 1.85, "nutzungszeitraum": 1.85, "operating costs": 1.85,
  "verbrauchskosten": 1.85, "wohnfläche anteil": 1.85, "§ 560": 1.85, "payments account": 1.83,
  "^vorauszahlungen": 1.27, "verbrauch": 1.18, "nebenkosten": 1.04, "vorauszahlung": 1.03, "^abrechnungseinheit": 0.99,
  "^betriebskosten": 0.93, "^nachzahlung": 0.93, "^abrechnungsspitze": 0.92, "^abrechnungszeitraum": 0.92,
  "^additional payment": 0.92, "^advance payments": 0.92, "^allocation key": 0.92, "^anteil": 0.92, "^apportion": 0.92,
  "^belege eingesehen": 0.92, "^belegeinsicht": 0.92, "^brennstoffkosten": 0.92, "^co2-kosten": 0.92,
  "^credit balance": 0.92, "^gesamtkosten": 0.92, "^grundkosten": 0.92, "^guthaben": 0.92, "^heizkosten": 0.92,
  "^heizkostenverteiler": 0.92, "^heizung warmwasser": 0.92, "^ihr anteil": 0.92, "^kalte betriebskosten": 0.92,
  "^kostenart": 0.92, "^liegenschaft": 0.92, "^nachforderung": 0.92, "^neue vorauszahlung": 0.92, "^nutzer": 0.92,
  "^nutzungszeitraum": 0.92, "^operating costs": 0.92, "^payments account": 0.92, "^prepayments": 0.92,
  "^umlagefähig": 0.92, "^verbrauchskosten": 0.92, "^wohnfläche anteil": 0.92, "^your share": 0.92, "^§ 560": 0.92,
  "winterdienst": 0.89, "grundsteuer": 0.86, "common parts": 0.81, "allgemeinstrom": 0.79, "abwasser": 0.77,
  "communal": 0.77, "gartenpflege": 0.77, "gebäudeversicherung": 0.77, "hauswart": 0.77, "refuse": 0.77,
  "straßenreinigung": 0.77, "waste": 0.77, "abrechnung": 0.76, "wasser": 0.75, "entwässerung": 0.74,
  "hausmeister": 0.74, "heating": 0.69, "müll": 0.67, "jahresabrechnung": 0.19, "summe": 0.19, "grundsteuer b": 0.16,
  "*": -0.27, "beschluss": -1.54, "hebesatz": -1.54, "mahnung": -1.54, "rechnungsnummer": -1.54, "mietvertrag": -1.56,
  "kaution": -1.57
}},
{"label": "Grundbuchauszug", "label_en": "Land register extract", "node": "property/land-register",
  "key": "land_register", "evidence": {
  "teileigentumsgrundbuch": 3.89, "ausdruck grundbuch": 3.86, "land register": 3.86, "*grundbuchamt": 3.85,
  "*grundbuchblatt": 3.85, "^grundbuch": 3.85, "abdruck grundbuch": 3.85, "amtlicher ausdruck": 3.85,
  "auszug grundbuch": 3.85, "bestandsverzeichnis": 3.85, "charges register": 3.85, "dritte abteilung": 3.85,
  "erbbaugrundbuch": 3.85, "erste abteilung": 3.85, "grundbuchauszug": 3.85, "land registry": 3.85,
  "owner record": 3.85, "property register": 3.85, "proprietorship register": 3.85, "register of title": 3.85,
  "title absolute": 3.85, "title number": 3.85, "title search": 3.85, "wohnungsgrundbuch": 3.85,
  "zweite abteilung": 3.85, "parcel": 2.67, "abteilung i": 2.53, "mortgage": 2.53, "auflassung vom": 2.49,
  "easement": 2.18, "land charge": 2.18, "^teileigentumsgrundbuch": 1.96, "^grundbuchauszug": 1.93,
  "^land register": 1.93, "^*grundbuchamt": 1.92, "^*grundbuchblatt": 1.92, "^abdruck grundbuch": 1.92,
  "^amtlicher ausdruck": 1.92, "^ausdruck grundbuch": 1.92, "^auszug grundbuch": 1.92, "^bestandsverzeichnis": 1.92,
  "^charges register": 1.92, "^dritte abteilung": 1.92, "^erbbaugrundbuch": 1.92, "^erste abteilung": 1.92,
  "^land registry": 1.92, "^owner record": 1.92, "^property register": 1.92, "^proprietorship register": 1.92,
  "^register of title": 1.92, "^title absolute": 1.92, "^title number": 1.92, "^title search": 1.92,
  "^wohnungsgrundbuch": 1.92, "^zweite abteilung": 1.92, "abt. ii": 1.89, "hof gebäudefläche": 1.86,
  "lasten beschränkungen": 1.86, "abt. iii": 1.85, "abteilung ii": 1.85, "abteilung iii": 1.85, "deed of trust": 1.85,
  "dienstbarkeit": 1.85, "eingetragen": 1.85, "encumbrance": 1.85, "erbbaurecht": 1.85, "fl.nr": 1.85, "flst": 1.85,
  "flurstück": 1.85, "freehold land": 1.85, "gemarkung": 1.85, "grundbuch von": 1.85, "grundschuld": 1.85,
  "grundschuld ohne brief": 1.85, "hypothek": 1.85, "laufende nummer": 1.85, "leasehold land": 1.85,
  "legal description": 1.85, "lfd nr": 1.85, "lot block": 1.85, "nießbrauch": 1.85, "plat": 1.85, "proprietor": 1.85,
  "rangvorbehalt": 1.85, "reallast": 1.85, "recorded": 1.85, "registered charge": 1.85, "rentenschuld": 1.85,
  "restriction": 1.85, "vollstreckbar": 1.85, "warranty deed": 1.85, "wegerecht": 1.85, "^abteilung i": 0.93,
  "^grundbuch von": 0.93, "^hof gebäudefläche": 0.93, "^abt. ii": 0.92, "^abt. iii": 0.92, "^abteilung ii": 0.92,
  "^abteilung iii": 0.92, "^deed of trust": 0.92, "^dienstbarkeit": 0.92, "^easement": 0.92, "^eingetragen": 0.92,
  "^encumbrance": 0.92, "^erbbaurecht": 0.92, "^fl.nr": 0.92, "^flst": 0.92, "^flurstück": 0.92,
  "^freehold land": 0.92, "^gemarkung": 0.92, "^grundschuld": 0.92, "^grundschuld ohne brief": 0.92, "^hypothek": 0.92,
  "^land charge": 0.92, "^lasten beschränkungen": 0.92, "^laufende nummer": 0.92, "^leasehold land": 0.92,
  "^legal description": 0.92, "^lfd nr": 0.92, "^lot block": 0.92, "^nießbrauch": 0.92, "^parcel": 0.92, "^plat": 0.92,
  "^proprietor": 0.92, "^rangvorbehalt": 0.92, "^reallast": 0.92, "^recorded": 0.92, "^registered charge": 0.92,
  "^rentenschuld": 0.92, "^restriction": 0.92, "^vollstreckbar": 0.92, "^warranty deed": 0.92, "^wegerecht": 0.92,
  "^auflassung vom": 0.91, "^mortgage": 0.91, "bewilligung": 0.81, "grundbuch": 0.81, "sondereigentum": 0.79,
  "amtsgericht": 0.77, "band": 0.77, "flur": 0.77, "gebäude freifläche": 0.77, "gelöscht": 0.77, "grundstück": 0.77,
  "vormerkung": 0.77, "eintragung": 0.76, "eigentümer": 0.75, "miteigentumsanteil": 0.75, "county": 0.72,
  "blatt": 0.64, "taxes": 0.23, "auflassung": 0.22, "notar": 0.2, "*": -0.24, "purchase price": -1.54, "seller": -1.54,
  "verkäufer": -1.54, "kaufpreis": -1.55, "käufer": -1.56
}},
{"label": "Kaufvertrag", "label_en": "Purchase contract", "node": "property/purchases",
  "key": "purchase_contract", "evidence": {
  "*kaufvertrag": 4.08, "*kaufvertrages": 3.85, "agreement sale": 3.85, "bauträgervertrag": 3.85,
  "contract sale": 3.85, "kaufgegenstand": 3.85, "kaufsache": 3.85, "purchase agreement": 3.85,
  "purchase contract": 3.85, "real estate contract": 3.85, "sale agreement": 3.85, "sale purchase": 3.85,
  "sells the property": 3.85, "share purchase": 3.85, "standard conditions of sale": 3.85, "kaufpreis": 2.72,
  "^*kaufvertrag": 2.15, "purchase price": 2.14, "seller": 2.14, "käufer": 2.03, "vacant possession": 2.03,
  "verkäufer": 1.99, "earnest money": 1.96, "verkauft": 1.94, "convey": 1.93, "sachmängel": 1.93,
  "^*kaufvertrages": 1.92, "^agreement sale": 1.92, "^bauträgervertrag": 1.92, "^contract sale": 1.92,
  "^kaufgegenstand": 1.92, "^kaufsache": 1.92, "^purchase agreement": 1.92, "^purchase contract": 1.92,
  "^real estate contract": 1.92, "^sale agreement": 1.92, "^sale purchase": 1.92, "^sells the property": 1.92,
  "^share purchase": 1.92, "^standard conditions of sale": 1.92, "grunderwerbsteuer": 1.92, "verkauf": 1.87,
  "altlasten": 1.85, "anderkonto": 1.85, "auflassungsvormerkung": 1.85, "baufortschritt": 1.85,
  "besitz nutzungen lasten": 1.85, "buyer": 1.85, "completion date": 1.85, "contingen": 1.85,
  "eigentumsvorbehalt": 1.85, "eigentumsübergang": 1.85, "erschienen": 1.85, "escrow": 1.85,
  "exchange of contracts": 1.85, "fälligkeitsmitteilung": 1.85, "gekauft wie": 1.85, "gewährleistung": 1.85,
  "kaufpreisfälligkeit": 1.85, "makler": 1.85, "marketable title": 1.85, "niederschrift": 1.85, "purchaser": 1.85,
  "urkundenrolle": 1.85, "vendor": 1.85, "veräußerer": 1.85, "vorgelesen genehmigt": 1.85, "vorkaufsrecht": 1.85,
  "warranty deed": 1.85, "zwangsvollstreckung": 1.85, "closing": 1.84, "erwerber": 1.84, "teilungserklärung": 1.81,
  "beurkundung": 1.65, "property": 1.01, "completion": 0.95, "auflassung": 0.94, "^altlasten": 0.92,
  "^anderkonto": 0.92, "^auflassungsvormerkung": 0.92, "^baufortschritt": 0.92, "^besitz nutzungen lasten": 0.92,
  "^beurkundung": 0.92, "^buyer": 0.92, "^closing": 0.92, "^completion date": 0.92, "^contingen": 0.92,
  "^convey": 0.92, "^earnest money": 0.92, "^eigentumsvorbehalt": 0.92, "^eigentumsübergang": 0.92,
  "^erschienen": 0.92, "^erwerber": 0.92, "^escrow": 0.92, "^exchange of contracts": 0.92,
  "^fälligkeitsmitteilung": 0.92, "^gekauft wie": 0.92, "^gewährleistung": 0.92, "^grunderwerbsteuer": 0.92,
  "^kaufpreis": 0.92, "^kaufpreisfälligkeit": 0.92, "^käufer": 0.92, "^makler": 0.92, "^marketable title": 0.92,
  "^niederschrift": 0.92, "^purchase price": 0.92, "^purchaser": 0.92, "^sachmängel": 0.92, "^seller": 0.92,
  "^urkundenrolle": 0.92, "^vacant possession": 0.92, "^vendor": 0.92, "^verkauft": 0.92, "^verkäufer": 0.92,
  "^veräußerer": 0.92, "^vorgelesen genehmigt": 0.92, "^vorkaufsrecht": 0.92, "^warranty deed": 0.92,
  "^zwangsvollstreckung": 0.92, "^teilungserklärung": 0.88, "eigentum": 0.8, "fixtures": 0.77, "grundbesitz": 0.77,
  "parties": 0.77, "urkunde": 0.77, "grundstück": 0.71, "notar": 0.59, "wird vermietet": 0.24, "anteil": 0.22,
  "verwalter": 0.2, "miete": 0.17, "mieter": 0.17, "*": -0.32, "schlüssel": -1.4, "abteilung ii": -1.54,
  "bemessungsgrundlage": -1.54, "mietzeit": -1.54, "steuersatz": -1.54, "title number": -1.54, "zählerstand": -1.54,
  "grundsteuer": -1.55
}},
{"label": "Kontoauszug", "label_en": "Bank statement", "node": "accounting/bank-statements",
  "key": "bank_statement", "evidence": {
  "kontoausz": 4.18, "alter saldo": 4.05, "buchungstag": 3.94, "*kontoauszug": 3.9, "account statement": 3.85,
  "alter kontostand": 3.85, "anfangssaldo": 3.85, "balance brought forward": 3.85, "bank statement": 3.85,
  "beginning balance": 3.85, "closing balance": 3.85, "ending balance": 3.85, "endsaldo": 3.85, "finanzstatus": 3.85,
  "member statement": 3.85, "neuer kontostand": 3.85, "neuer saldo": 3.85, "opening balance": 3.85,
  "previous balance": 3.85, "saldovortrag": 3.85, "statement of account bank": 3.85, "statement period": 3.85,
  "umsatzanzeige": 3.85, "umsatzliste": 3.85, "umsatzübersicht": 3.85, "wertstellung": 3.85,
  "balance carried forward": 3.7, "buchungstext": 2.46, "^kontoausz": 2.26, "^alter saldo": 2.13,
  "^*kontoauszug": 1.98, "bareinzahlung": 1.94, "saldo": 1.94, "^account statement": 1.92, "^alter kontostand": 1.92,
  "^anfangssaldo": 1.92, "^balance brought forward": 1.92, "^balance carried forward": 1.92, "^bank statement": 1.92,
  "^beginning balance": 1.92, "^buchungstag": 1.92, "^closing balance": 1.92, "^ending balance": 1.92,
  "^endsaldo": 1.92, "^finanzstatus": 1.92, "^member statement": 1.92, "^neuer kontostand": 1.92, "^neuer saldo": 1.92,
  "^opening balance": 1.92, "^previous balance": 1.92, "^saldovortrag": 1.92, "^statement of account bank": 1.92,
  "^statement period": 1.92, "^umsatzanzeige": 1.92, "^umsatzliste": 1.92, "^umsatzübersicht": 1.92,
  "^wertstellung": 1.92, "direct debit": 1.92, "sort code": 1.92, "standing order": 1.92, "annuität": 1.9,
  "anfangsbestand": 1.88, "endbestand": 1.88, "abhebung": 1.85, "ach": 1.85, "auszug nr": 1.85, "buchungen": 1.85,
  "checking": 1.85, "current account": 1.85, "darlehenskonto": 1.85, "dauerauftrag": 1.85, "deposits": 1.85,
  "entgeltabschluss": 1.85, "faster payment": 1.85, "girokonto": 1.85, "gutschrift": 1.85, "habenzinsen": 1.85,
  "kartenzahlung": 1.85, "kontoführung": 1.85, "kontoinhaber": 1.85, "kontostand": 1.85, "overdraft": 1.85,
  "rechnungsabschluss": 1.85, "restschuld": 1.85, "service fee": 1.85, "tagesgeld": 1.85, "tilgung": 1.85,
  "umbuchung": 1.85, "umsätze": 1.85, "valuta": 1.85, "withdrawals": 1.85, "zinsgutschrift": 1.85,
  "überweisungsgutschrift": 1.85, "lastschrift": 1.84, "paid out": 1.84, "paid in": 1.82, "auftraggeber": 1.79,
  "statement": 1.73, "konto": 1.44, "verwendungszweck": 1.39, "sparkasse": 1.07, "zinsen": 1.07, "^direct debit": 1,
  "^sort code": 1, "^standing order": 1, "^abhebung": 0.92, "^ach": 0.92, "^anfangsbestand": 0.92, "^annuität": 0.92,
  "^auftraggeber": 0.92, "^auszug nr": 0.92, "^bareinzahlung": 0.92, "^buchungen": 0.92, "^buchungstext": 0.92,
  "^checking": 0.92, "^current account": 0.92, "^darlehenskonto": 0.92, "^dauerauftrag": 0.92, "^deposits": 0.92,
  "^endbestand": 0.92, "^entgeltabschluss": 0.92, "^faster payment": 0.92, "^girokonto": 0.92, "^gutschrift": 0.92,
  "^habenzinsen": 0.92, "^kartenzahlung": 0.92, "^kontoführung": 0.92, "^kontoinhaber": 0.92, "^kontostand": 0.92,
  "^lastschrift": 0.92, "^overdraft": 0.92, "^paid in": 0.92, "^paid out": 0.92, "^rechnungsabschluss": 0.92,
  "^restschuld": 0.92, "^saldo": 0.92, "^service fee": 0.92, "^tagesgeld": 0.92, "^tilgung": 0.92, "^umbuchung": 0.92,
  "^umsätze": 0.92, "^valuta": 0.92, "^withdrawals": 0.92, "^zinsgutschrift": 0.92, "^überweisungsgutschrift": 0.92,
  "^statement": 0.9, "miete": 0.88, "überweisung": 0.86, "debit": 0.85, "bank": 0.83, "buchung": 0.77, "credits": 0.77,
  "volksbank": 0.77, "sepa": 0.72, "balance": 0.69, "check": 0.68, "bic": 0.65, "iban": 0.65, "betrag": 0.53,
  "abschlag": 0.2, "strom": 0.19, "zahlung": 0.19, "*": -0.37, "beschluss": -1.54, "mahngebühr": -1.54,
  "mahnung": -1.54, "rechnungsnummer": -1.54, "versicherungsnehmer": -1.54, "kaufpreis": -1.55, "kündig": -1.57
}},
{"label": "Versicherungspolice", "label_en": "Insurance policy", "node": "property/insurance",
  "key": "insurance_policy", "evidence": {
  "sums insured": 4.37, "versicherungssumme": 4.15, "versicherungsschutz": 3.98, "policyholder": 3.96,
  "versicherungsnummer": 3.93, "*versicherungsnehmer": 3.85, "*versicherungsschein": 3.85,
  "certificate of insurance": 3.85, "deckungsbestätigung": 3.85, "deckungssumme": 3.85, "insurance certificate": 3.85,
  "insurance policy": 3.85, "named insured": 3.85, "period of insurance": 3.85, "policy declarations": 3.85,
  "policy no": 3.85, "policy number": 3.85, "policy schedule": 3.85, "sum insured": 3.85, "versicherungsbeginn": 3.85,
  "versicherungsbestätigung": 3.85, "versicherungspolice": 3.85, "versicherungsteuer": 3.85,
  "versicherungsurkunde": 3.85, "feuer": 2.53, "versichert": 2.53, "selbstbehalt": 1.97, "cover": 1.96,
  "insured": 1.96, "hauptfälligkeit": 1.93, "^*versicherungsnehmer": 1.92, "^*versicherungsschein": 1.92,
  "^certificate of insurance": 1.92, "^deckungsbestätigung": 1.92, "^deckungssumme": 1.92,
  "^insurance certificate": 1.92, "^insurance policy": 1.92, "^named insured": 1.92, "^period of insurance": 1.92,
  "^policy declarations": 1.92, "^policy no": 1.92, "^policy number": 1.92, "^policy schedule": 1.92,
  "^policyholder": 1.92, "^sum insured": 1.92, "^sums insured": 1.92, "^versicherungsbeginn": 1.92,
  "^versicherungsbestätigung": 1.92, "^versicherungsnummer": 1.92, "^versicherungspolice": 1.92,
  "^versicherungsschutz": 1.92, "^versicherungssumme": 1.92, "^versicherungsteuer": 1.92,
  "^versicherungsurkunde": 1.92, "ahb": 1.85, "beitragsanpassung": 1.85, "beitragsrechnung": 1.85, "coverage": 1.85,
  "deductible": 1.85, "elementar": 1.85, "endorsement": 1.85, "erstbeitrag": 1.85, "excess": 1.85,
  "folgebeitrag": 1.85, "gebäudeversicherung": 1.85, "gleitender neuwert": 1.85, "hausratversicherung": 1.85,
  "indemnity": 1.85, "insurer": 1.85, "jahresbeitrag": 1.85, "jahresprämie": 1.85, "leitungswasser": 1.85,
  "mitversichert": 1.85, "perils": 1.85, "police": 1.85, "premium": 1.85, "rechtsschutz": 1.85,
  "selbstbeteiligung": 1.85, "sturm hagel": 1.85, "underwrit": 1.85, "versicherer": 1.85, "versicherte gefahren": 1.85,
  "versicherungsbedingungen": 1.85, "vgb": 1.85, "vorläufige deckung": 1.85, "liability": 1.84, "versicherung": 1.84,
  "insurance": 1.83, "haftpflichtversicherung": 1.82, "ablauf": 1.49, "haftpflicht": 1.46, "buildings": 1.29,
  "prämie": 1.07, "^ahb": 0.92, "^beitragsanpassung": 0.92, "^beitragsrechnung": 0.92, "^cover": 0.92,
  "^coverage": 0.92, "^deductible": 0.92, "^elementar": 0.92, "^endorsement": 0.92, "^erstbeitrag": 0.92,
  "^excess": 0.92, "^feuer": 0.92, "^folgebeitrag": 0.92, "^gebäudeversicherung": 0.92, "^gleitender neuwert": 0.92,
  "^haftpflichtversicherung": 0.92, "^hauptfälligkeit": 0.92, "^hausratversicherung": 0.92, "^indemnity": 0.92,
  "^insurance": 0.92, "^insured": 0.92, "^insurer": 0.92, "^jahresbeitrag": 0.92, "^jahresprämie": 0.92,
  "^leitungswasser": 0.92, "^liability": 0.92, "^mitversichert": 0.92, "^perils": 0.92, "^police": 0.92,
  "^premium": 0.92, "^rechtsschutz": 0.92, "^selbstbehalt": 0.92, "^selbstbeteiligung": 0.92, "^sturm hagel": 0.92,
  "^underwrit": 0.92, "^versicherer": 0.92, "^versichert": 0.92, "^versicherte gefahren": 0.92,
  "^versicherungsbedingungen": 0.92, "^vgb": 0.92, "^vorläufige deckung": 0.92, "deckung": 0.9, "claim": 0.88,
  "beitrag": 0.86, "nachtrag": 0.86, "contents": 0.76, "schaden": 0.74, "renew": 0.73, "steuer": 0.24,
  "unverzüglich": 0.18, "check": 0.17, "statement": 0.17, "anbieter": -1.54, "angebot": -1.54, "kündige": -1.54,
  "quotation": -1.54, "schadenanzeige": -1.54, "schadenmeldung": -1.54, "sonderkündigung": -1.54,
  "umlageschlüssel": -1.54, "vorschlag": -1.54, "your share": -1.55, "anteil": -1.57
}},
{"label": "Energieausweis", "label_en": "Energy certificate", "node": "property/energy",
  "key": "energy_certificate", "evidence": {
  "*energieausweis": 4, "bedarfsausweis": 3.85, "display energy certificate": 3.85, "effizienzklasse": 3.85,
  "endenergiebedarf": 3.85, "endenergieverbrauch": 3.85, "energiebedarfsausweis": 3.85, "energieeffizienzklasse": 3.85,
  "energieverbrauchskennwert": 3.85, "energy efficiency rating": 3.85, "energy performance certificate": 3.85,
  "energy rating": 3.85, "epc": 3.85, "gebäudeenergiegesetz": 3.85, "hers index": 3.85, "primary energy": 3.85,
  "primärenergie": 3.85, "verbrauchsausweis": 3.85, "nettogrundfläche": 2.22, "vergleichswert": 2.22,
  "energy costs": 2.09, "insulation": 2.09, "loft": 2.09, "warmwasser": 2.04, "^bedarfsausweis": 1.92,
  "^display energy certificate": 1.92, "^effizienzklasse": 1.92, "^endenergiebedarf": 1.92,
  "^endenergieverbrauch": 1.92, "^energiebedarfsausweis": 1.92, "^energieeffizienzklasse": 1.92,
  "^energieverbrauchskennwert": 1.92, "^energy efficiency rating": 1.92, "^energy performance certificate": 1.92,
  "^energy rating": 1.92, "^epc": 1.92, "^gebäudeenergiegesetz": 1.92, "^hers index": 1.92, "^primary energy": 1.92,
  "^primärenergie": 1.92, "^verbrauchsausweis": 1.92, "^*energieausweis": 1.91, "u-wert": 1.87, "heating": 1.86,
  "anlagentechnik": 1.85, "assessor": 1.85, "aussteller": 1.85, "baujahr wärmeerzeuger": 1.85, "carbon": 1.85,
  "co2 emissions": 1.85, "energetisch": 1.85, "energiebedarf": 1.85, "energieberater": 1.85, "energieträger": 1.85,
  "energieverbrauch": 1.85, "energy use": 1.85, "enev": 1.85, "environmental impact": 1.85,
  "erneuerbare energien": 1.85, "gebäudehülle": 1.85, "gebäudenutzfläche": 1.85, "geg": 1.85, "kennwert": 1.85,
  "kwh per square": 1.85, "modernisierungsempfehlung": 1.85, "registriernummer": 1.85,
  "transmissionswärmeverlust": 1.85, "treibhausgasemissionen": 1.85, "witterungsbereinig": 1.85, "u-value": 1.82,
  "gültig bis": 1.78, "kwh": 1.31, "baujahr": 1.12, "boiler": 1.02, "dämmung": 0.94, "^energetisch": 0.93,
  "^anlagentechnik": 0.92, "^assessor": 0.92, "^aussteller": 0.92, "^baujahr wärmeerzeuger": 0.92, "^carbon": 0.92,
  "^co2 emissions": 0.92, "^energiebedarf": 0.92, "^energieberater": 0.92, "^energieträger": 0.92,
  "^energieverbrauch": 0.92, "^energy costs": 0.92, "^energy use": 0.92, "^enev": 0.92, "^environmental impact": 0.92,
  "^erneuerbare energien": 0.92, "^gebäudehülle": 0.92, "^gebäudenutzfläche": 0.92, "^geg": 0.92, "^insulation": 0.92,
  "^kennwert": 0.92, "^kwh per square": 0.92, "^loft": 0.92, "^modernisierungsempfehlung": 0.92,
  "^nettogrundfläche": 0.92, "^registriernummer": 0.92, "^transmissionswärmeverlust": 0.92,
  "^treibhausgasemissionen": 0.92, "^u-value": 0.92, "^vergleichswert": 0.92, "^witterungsbereinig": 0.92,
  "^gültig bis": 0.88, "^u-wert": 0.86, "klasse": 0.78, "erdgas": 0.77, "heizöl": 0.77, "nichtwohngebäude": 0.77,
  "valid until": 0.77, "wohngebäude": 0.77, "wärmepumpe": 0.77, "energy": 0.76, "fernwärme": 0.72, "valid for": 0.43,
  "arbeitspreis": -1.54, "zählernummer": -1.54, "abschlag": -1.55, "kaufpreis": -1.55, "rechnungsbetrag": -1.55,
  "schlüssel": -1.55, "vorauszahlung": -1.58
}},
{"label": "Versammlungsprotokoll", "label_en": "Meeting minutes", "node": "owners/minutes",
  "key": "meeting_minutes", "evidence": {
  "meeting held": 4.39, "ergebnisprotokoll": 3.94, "protokollführ": 3.93, "called to order": 3.89,
  "^niederschrift": 3.85, "abstimmungsergebnis": 3.85, "beschluss zustande gekommen": 3.85, "beschluss-sammlung": 3.85,
  "beschlussfähig": 3.85, "beschlusssammlung": 3.85, "call to order": 3.85, "meeting adjourned": 3.85,
  "meeting closed": 3.85, "minutes": 3.85, "niederschrift eigentümerversammlung": 3.85, "notes of meeting": 3.85,
  "protokoll beiratssitzung": 3.85, "protokoll eigentümerversammlung": 3.85, "protokoll sitzung": 3.85,
  "protokoll versammlung": 3.85, "sitzungsprotokoll": 3.85, "umlaufbeschluss": 3.85, "versammlungsleiter": 3.85,
  "abstimmung": 2.29, "beschlossen": 2.1, "wird beschlossen": 2.09, "^ergebnisprotokoll": 2.01,
  "^abstimmungsergebnis": 1.92, "^beschluss zustande gekommen": 1.92, "^beschluss-sammlung": 1.92,
  "^beschlussfähig": 1.92, "^beschlusssammlung": 1.92, "^call to order": 1.92, "^called to order": 1.92,
  "^meeting adjourned": 1.92, "^meeting closed": 1.92, "^meeting held": 1.92, "^minutes": 1.92,
  "^niederschrift eigentümerversammlung": 1.92, "^notes of meeting": 1.92, "^protokoll beiratssitzung": 1.92,
  "^protokoll eigentümerversammlung": 1.92, "^protokoll sitzung": 1.92, "^protokoll versammlung": 1.92,
  "^protokollführ": 1.92, "^sitzungsprotokoll": 1.92, "^umlaufbeschluss": 1.92, "^versammlungsleiter": 1.92,
  "adjourn": 1.89, "motion": 1.89, "secretary": 1.89, "abgelehnt": 1.85, "abstain": 1.85, "against": 1.85,
  "angenommen": 1.85, "anwesend vertreten": 1.85, "any other business": 1.85, "apologies": 1.85, "beiratswahl": 1.85,
  "beschlussantrag": 1.85, "beschlussfähigkeit": 1.85, "chair": 1.85, "directors present": 1.85, "einstimmig": 1.85,
  "ende der versammlung": 1.85, "enthaltung": 1.85, "entlastung erteilt": 1.85, "ja-stimmen": 1.85,
  "mehrheitlich": 1.85, "nein-stimmen": 1.85, "next meeting": 1.85, "nächste sitzung": 1.85, "present": 1.85,
  "proxies": 1.85, "quorum": 1.85, "resolution passed": 1.85, "resolved": 1.85, "schluss der versammlung": 1.85,
  "seconded": 1.85, "show of hands": 1.85, "stimmen": 1.85, "teilnehmer": 1.85, "treasurer": 1.85, "unanimously": 1.85,
  "verkündet": 1.85, "versammlung geschlossen": 1.85, "vertagt": 1.85, "verwalterwahl": 1.85, "votes": 1.85,
  "carried": 1.84, "in favour": 1.81, "versammlung": 1.3, "meeting": 1.27, "entlastung": 1.22, "verwalter": 1.2,
  "eigentümer": 1.01, "protokoll": 1.01, "top": 1.01, "^abgelehnt": 0.92, "^abstain": 0.92, "^abstimmung": 0.92,
  "^adjourn": 0.92, "^against": 0.92, "^angenommen": 0.92, "^anwesend vertreten": 0.92, "^any other business": 0.92,
  "^apologies": 0.92, "^beiratswahl": 0.92, "^beschlossen": 0.92, "^beschlussantrag": 0.92,
  "^beschlussfähigkeit": 0.92, "^carried": 0.92, "^chair": 0.92, "^directors present": 0.92, "^einstimmig": 0.92,
  "^ende der versammlung": 0.92, "^enthaltung": 0.92, "^entlastung erteilt": 0.92, "^in favour": 0.92,
  "^ja-stimmen": 0.92, "^mehrheitlich": 0.92, "^motion": 0.92, "^nein-stimmen": 0.92, "^next meeting": 0.92,
  "^nächste sitzung": 0.92, "^present": 0.92, "^proxies": 0.92, "^quorum": 0.92, "^resolution passed": 0.92,
  "^resolved": 0.92, "^schluss der versammlung": 0.92, "^seconded": 0.92, "^secretary": 0.92, "^show of hands": 0.92,
  "^stimmen": 0.92, "^teilnehmer": 0.92, "^treasurer": 0.92, "^unanimously": 0.92, "^verkündet": 0.92,
  "^versammlung geschlossen": 0.92, "^vertagt": 0.92, "^verwalterwahl": 0.92, "^votes": 0.92,
  "^wird beschlossen": 0.92, "wirtschaftsplan": 0.83, "beirat": 0.78, "beschluss": 0.77, "board": 0.77,
  "eigentümerversammlung": 0.77, "tagesordnung": 0.77, "tagesordnungspunkt": 0.77, "vote": 0.77, "beginn": 0.74,
  "jahresabrechnung": 0.74, "agenda": 0.72, "proposal": 0.18, "angebot": -1.54, "einladung": -1.54, "kündigen": -1.54,
  "laden ein": -1.54, "schlüssel": -1.54, "vollmacht": -1.54, "zählerstände": -1.54, "bevollmächtig": -1.55,
  "kaufpreis": -1.56, "invited": -1.59
}},
{"label": "Mahnung", "label_en": "Payment reminder", "node": "accounting/reminders",
  "key": "reminder", "evidence": {
  "collection agency": 4.05, "arrears": 3.98, "*mahngebühr": 3.85, "debt collection": 3.85, "final demand": 3.85,
  "final notice": 3.85, "friendly reminder": 3.85, "inkasso": 3.85, "late rent notice": 3.85, "letzte frist": 3.85,
  "letztmalig": 3.85, "mahnbescheid": 3.85, "mahnkosten": 3.85, "mahnung": 3.85, "mietrückstand": 3.85,
  "outstanding amount": 3.85, "overdue": 3.85, "past due": 3.85, "payment reminder": 3.85, "second reminder": 3.85,
  "sperrandrohung": 3.85, "third notice": 3.85, "zahlungserinnerung": 3.85, "despite": 2.05, "reminder": 2.05,
  "klage erheben": 1.99, "ohne weitere ankündigung": 1.99, "rückstand": 1.99, "outstanding": 1.98,
  "payment plan": 1.98, "^*mahngebühr": 1.93, "^mahnung": 1.93, "^arrears": 1.92, "^collection agency": 1.92,
  "^debt collection": 1.92, "^final demand": 1.92, "^final notice": 1.92, "^friendly reminder": 1.92, "^inkasso": 1.92,
  "^late rent notice": 1.92, "^letzte frist": 1.92, "^letztmalig": 1.92, "^mahnbescheid": 1.92, "^mahnkosten": 1.92,
  "^mietrückstand": 1.92, "^outstanding amount": 1.92, "^overdue": 1.92, "^past due": 1.92, "^payment reminder": 1.92,
  "^second reminder": 1.92, "^sperrandrohung": 1.92, "^third notice": 1.92, "^zahlungserinnerung": 1.92,
  "andernfalls": 1.88, "begleichen": 1.88, "offen": 1.88, "unbezahlt": 1.88, "verzug": 1.88, "forderung": 1.87,
  "offene betrag": 1.87, "rückständig": 1.87, "trotz": 1.86, "ausgleich": 1.85, "disregard": 1.85,
  "gegenstandslos": 1.85, "gerichtliche schritte": 1.85, "hauptforderung": 1.85, "late fee": 1.85, "legal costs": 1.85,
  "nichtzahlung": 1.85, "noch nicht bezahlt": 1.85, "not received payment": 1.85, "offener betrag": 1.85,
  "ratenzahlung": 1.85, "recover debt": 1.85, "remains unpaid": 1.85, "seven days": 1.85, "solicitors": 1.85,
  "still open": 1.85, "säumniszuschläge": 1.85, "unpaid": 1.85, "verzugszinsen": 1.85, "vollstreckt": 1.85,
  "without further notice": 1.85, "zahlung steht aus": 1.85, "zahlungsaufforderung": 1.85, "zahlungseingang": 1.85,
  "zwischenzeitlich gezahlt": 1.85, "überschnitten": 1.85, "übersehen": 1.85, "fordern sie auf": 1.84, "payment": 1.84,
  "fällig war": 1.81, "konten": 1.63, "zahlung": 1.55, "^rückständig": 0.95, "^offen": 0.93, "^andernfalls": 0.92,
  "^ausgleich": 0.92, "^begleichen": 0.92, "^despite": 0.92, "^disregard": 0.92, "^fordern sie auf": 0.92,
  "^forderung": 0.92, "^fällig war": 0.92, "^gegenstandslos": 0.92, "^gerichtliche schritte": 0.92,
  "^hauptforderung": 0.92, "^klage erheben": 0.92, "^late fee": 0.92, "^legal costs": 0.92, "^nichtzahlung": 0.92,
  "^noch nicht bezahlt": 0.92, "^not received payment": 0.92, "^offene betrag": 0.92, "^offener betrag": 0.92,
  "^ohne weitere ankündigung": 0.92, "^outstanding": 0.92, "^payment plan": 0.92, "^ratenzahlung": 0.92,
  "^recover debt": 0.92, "^remains unpaid": 0.92, "^reminder": 0.92, "^rückstand": 0.92, "^seven days": 0.92,
  "^solicitors": 0.92, "^still open": 0.92, "^säumniszuschläge": 0.92, "^trotz": 0.92, "^unbezahlt": 0.92,
  "^unpaid": 0.92, "^verzug": 0.92, "^verzugszinsen": 0.92, "^vollstreckt": 0.92, "^without further notice": 0.92,
  "^zahlung steht aus": 0.92, "^zahlungsaufforderung": 0.92, "^zahlungseingang": 0.92,
  "^zwischenzeitlich gezahlt": 0.92, "^überschnitten": 0.92, "^übersehen": 0.92, "bis spätestens": 0.88,
  "rechtsanwält": 0.8, "credit control": 0.77, "zahlen": 0.77, "bitten": 0.76, "interest": 0.75, "fällig": 0.73,
  "unverzüglich": 0.72, "*": 0.56, "gas": 0.46, "due date": 0.43, "rent": 0.36, "rechnung": 0.29, "betrag": 0.23,
  "hiermit kündig": -1.54, "kündigen": -1.54, "räumen": -1.54, "vertragslaufzeit": -1.54, "zahlungsziel": -1.54,
  "rechtsbehelf": -1.55, "wohnfläche": -1.55
}},
{"label": "Kündigung", "label_en": "Termination", "node": "tenancies/terminations",
  "key": "termination", "evidence": {
  "kündige": 4.16, "hiermit kündig": 4.05, "notice to quit": 3.86, "^sonderkündigung": 3.85,
  "außerordentliche kündigung": 3.85, "cancel our contract": 3.85, "cancellation of contract": 3.85,
  "eigenbedarf": 3.85, "fristlose kündigung": 3.85, "give notice": 3.85, "ihre kündigung": 3.85, "kündige ich": 3.85,
  "kündigen wir": 3.85, "kündigung mietvert": 3.85, "kündigungsbestätigung": 3.85, "notice of cancellation": 3.85,
  "notice of termination": 3.85, "notice seeking possession": 3.85, "notice to vacate": 3.85, "section notice": 3.85,
  "sonderkündigungsrecht": 3.85, "terminating": 3.85, "written notice of termination": 3.85, "kündigung wegen": 3.84,
  "kündigung mietverhältnis": 3.8, "days notice": 2.52, "mietverhältnis endet": 2.5, "possession": 2.4,
  "^kündige": 2.23, "aus wichtigem grund": 2.21, "herauszugeben": 2.21, "ordentlich zum": 2.21,
  "eingang kündigung": 2.05, "^notice to quit": 1.94, "^cancel our contract": 1.93, "^notice of termination": 1.93,
  "^außerordentliche kündigung": 1.92, "^cancellation of contract": 1.92, "^eigenbedarf": 1.92,
  "^fristlose kündigung": 1.92, "^give notice": 1.92, "^hiermit kündig": 1.92, "^ihre kündigung": 1.92,
  "^kündige ich": 1.92, "^kündigen wir": 1.92, "^kündigung mietverhältnis": 1.92, "^kündigung mietvert": 1.92,
  "^kündigung wegen": 1.92, "^kündigungsbestätigung": 1.92, "^notice of cancellation": 1.92,
  "^notice seeking possession": 1.92, "^notice to vacate": 1.92, "^section notice": 1.92,
  "^sonderkündigungsrecht": 1.92, "^terminating": 1.92, "^written notice of termination": 1.92, "notice": 1.92,
  "tenancy will end": 1.86, "beendigung": 1.85, "bestätigen erhalt": 1.85, "cancellation": 1.85, "effective": 1.85,
  "einschreiben": 1.85, "einzugsermächtigung": 1.85, "fristgemäß": 1.85, "fristgerecht": 1.85,
  "give up possession": 1.85, "hilfsweise": 1.85, "intend to leave": 1.85, "kündigen": 1.85, "last day": 1.85,
  "leave the property": 1.85, "month's notice": 1.85, "räumen": 1.85, "sepa-mandat": 1.85, "terminate": 1.85,
  "termination": 1.85, "vacate": 1.85, "vacating": 1.85, "widersprechen": 1.85, "widerspruch": 1.85,
  "zum monatsende": 1.85, "§ 545": 1.85, "§ 573": 1.85, "forwarding address": 1.84, "move out": 1.84,
  "widerrufe": 1.84, "geräumt": 1.82, "nächstmöglichen": 1.82, "zum nächst": 1.81, "§ 543": 1.81, "kündigung": 1.7,
  "confirm": 1.45, "vertrag": 1.39, "mietverhältnis": 1.36, "landlord": 1.35, "frist": 1.31, "^cancellation": 0.93,
  "^termination": 0.93, "^aus wichtigem grund": 0.92, "^beendigung": 0.92, "^bestätigen erhalt": 0.92,
  "^days notice": 0.92, "^effective": 0.92, "^eingang kündigung": 0.92, "^einschreiben": 0.92,
  "^einzugsermächtigung": 0.92, "^forwarding address": 0.92, "^fristgemäß": 0.92, "^fristgerecht": 0.92,
  "^geräumt": 0.92, "^give up possession": 0.92, "^herauszugeben": 0.92, "^hilfsweise": 0.92, "^intend to leave": 0.92,
  "^kündigen": 0.92, "^kündigung": 0.92, "^last day": 0.92, "^leave the property": 0.92, "^mietverhältnis endet": 0.92,
  "^month's notice": 0.92, "^move out": 0.92, "^nächstmöglichen": 0.92, "^ordentlich zum": 0.92, "^possession": 0.92,
  "^räumen": 0.92, "^sepa-mandat": 0.92, "^tenancy will end": 0.92, "^terminate": 0.92, "^vacate": 0.92,
  "^vacating": 0.92, "^widerrufe": 0.92, "^widersprechen": 0.92, "^widerspruch": 0.92, "^zum monatsende": 0.92,
  "^zum nächst": 0.92, "^§ 543": 0.92, "^§ 545": 0.92, "^§ 573": 0.92, "bitte bestätigen": 0.77, "court": 0.76,
  "schriftlich": 0.7, "kündig": 0.25, "keys": 0.23, "rent is": -0.87, "beitrag": -1.54, "grundmiete": -1.54,
  "mahngebühr": -1.54, "mahnung": -1.54, "mieträume": -1.54, "premium": -1.54, "rechtsbehelfsbelehrung": -1.54,
  "security deposit of": -1.54, "sublet": -1.54, "zählerstände": -1.54, "vorauszahlung": -1.62
}},
{"label": "Steuerbescheid", "label_en": "Tax notice", "node": "accounting/taxes",
  "key": "tax_notice", "evidence": {
  "bescheid über": 4.29, "self assessment": 4.04, "festgesetzt": 3.89, "grundbesitzabgaben": 3.88,
  "*grundsteuerbescheid": 3.85, "*messbescheid": 3.85, "*steuerbescheid": 3.85, "assessed value": 3.85,
  "assessment notice": 3.85, "bescheid für": 3.85, "besteuerungsgrundlagen": 3.85, "council tax": 3.85,
  "festsetzung": 3.85, "grundsteuerwert": 3.85, "hebesatz": 3.85, "messbetrag": 3.85, "property tax statement": 3.85,
  "real estate tax": 3.85, "rechtsbehelfsbelehrung": 3.85, "steueramt": 3.85, "tax assessment": 3.85, "tax bill": 3.85,
  "tax notice": 3.85, "tax statement": 3.85, "veranlagt": 3.85, "zweitwohnungsteuer": 3.85,
  "solidaritätszuschlag": 2.81, "^bescheid über": 2.37, "bekanntgabe": 2.34, "einspruch": 2.34, "mills": 2.21,
  "tax rate": 2.21, "taxing": 2.21, "appeal": 2.04, "income tax": 2.04, "^grundbesitzabgaben": 1.96,
  "verspätungszuschlag": 1.96, "^*grundsteuerbescheid": 1.92, "^*messbescheid": 1.92, "^*steuerbescheid": 1.92,
  "^assessed value": 1.92, "^assessment notice": 1.92, "^bescheid für": 1.92, "^besteuerungsgrundlagen": 1.92,
  "^council tax": 1.92, "^festgesetzt": 1.92, "^festsetzung": 1.92, "^grundsteuerwert": 1.92, "^hebesatz": 1.92,
  "^messbetrag": 1.92, "^property tax statement": 1.92, "^real estate tax": 1.92, "^rechtsbehelfsbelehrung": 1.92,
  "^self assessment": 1.92, "^steueramt": 1.92, "^tax assessment": 1.92, "^tax bill": 1.92, "^tax notice": 1.92,
  "^tax statement": 1.92, "^veranlagt": 1.92, "^zweitwohnungsteuer": 1.92, "^solidaritätszuschlag": 1.89,
  "bemessungsgrundlage": 1.89, "finanzamt": 1.89, "steuersatz": 1.89, "abgaben": 1.85, "abgabenordnung": 1.85,
  "assessor": 1.85, "band": 1.85, "bescheid": 1.85, "county treasurer": 1.85, "einkommensteuer": 1.85,
  "einkünfte": 1.85, "finanzkasse": 1.85, "gewerbesteuer": 1.85, "hauptveranlagung": 1.85, "hmrc": 1.85,
  "instalments": 1.85, "jahressteuer": 1.85, "kassenzeichen": 1.85, "kämmerei": 1.85, "revenue": 1.85, "satzung": 1.85,
  "steuernummer": 1.85, "steuerpflicht": 1.85, "steuerschuldner": 1.85, "tax code": 1.85, "tax year": 1.85,
  "taxpayer": 1.85, "total tax": 1.85, "umsatzsteuer-vorauszahlung": 1.85, "verwaltungsgericht": 1.85,
  "grunderwerbsteuer": 1.84, "grundsteuer b": 1.83, "vorläufig": 1.79, "taxes": 1.74, "grundsteuer": 1.28,
  "county": 1.14, "stadt": 0.98, "^grundsteuer b": 0.96, "fällig": 0.93, "^abgaben": 0.92, "^abgabenordnung": 0.92,
  "^appeal": 0.92, "^assessor": 0.92, "^band": 0.92, "^bekanntgabe": 0.92, "^bemessungsgrundlage": 0.92,
  "^bescheid": 0.92, "^county treasurer": 0.92, "^einkommensteuer": 0.92, "^einkünfte": 0.92, "^einspruch": 0.92,
  "^finanzamt": 0.92, "^finanzkasse": 0.92, "^gewerbesteuer": 0.92, "^grunderwerbsteuer": 0.92,
  "^hauptveranlagung": 0.92, "^hmrc": 0.92, "^income tax": 0.92, "^instalments": 0.92, "^jahressteuer": 0.92,
  "^kassenzeichen": 0.92, "^kämmerei": 0.92, "^mills": 0.92, "^revenue": 0.92, "^satzung": 0.92, "^steuernummer": 0.92,
  "^steuerpflicht": 0.92, "^steuersatz": 0.92, "^steuerschuldner": 0.92, "^tax code": 0.92, "^tax rate": 0.92,
  "^tax year": 0.92, "^taxes": 0.92, "^taxing": 0.92, "^taxpayer": 0.92, "^total tax": 0.92,
  "^umsatzsteuer-vorauszahlung": 0.92, "^verspätungszuschlag": 0.92, "^verwaltungsgericht": 0.92, "^vorläufig": 0.92,
  "steuer": 0.84, "festsetz": 0.8, "tax": 0.78, "borough": 0.77, "council": 0.77, "widerspruch": 0.77,
  "gemeinde": 0.76, "klage": 0.76, "vorauszahlungen": -0.62, "baugenehmigung": -1.54, "ihr anteil": -1.54,
  "kontostand": -1.54, "mahnung": -1.54, "mwst": -1.54, "rechnungsnummer": -1.54, "umlageschlüssel": -1.54,
  "kaufpreis": -1.55, "erlaubnis": -1.56
}},
{"label": "Übergabeprotokoll", "label_en": "Handover protocol", "node": "tenancies/handovers",
  "key": "handover_protocol", "evidence": {
  "^übergabe": 4.05, "*übergabeprotokoll": 3.85, "abnahmeprotokoll": 3.85, "check-in inventory": 3.85,
  "check-out inventory": 3.85, "condition checklist": 3.85, "endabnahme": 3.85, "handover": 3.85,
  "handover protocol": 3.85, "inspection form": 3.85, "inventory report": 3.85, "inventory schedule": 3.85,
  "move-in": 3.85, "move-out": 3.85, "move-out inspection": 3.85, "protokoll abnahme": 3.85,
  "protokoll besitzübergabe": 3.85, "protokoll übergabe": 3.85, "rückgabeprotokoll": 3.85,
  "schedule of condition": 3.85, "schlüsselübergabe": 3.85, "vorabnahme": 3.85, "walk-through": 3.85,
  "wohnungsabnahme": 3.85, "wohnungsübergabe": 3.85, "zustandsbericht": 3.85, "mängel": 2.55, "ablesung": 2.54,
  "schlüssel": 2.14, "auszug": 2.08, "gestrichen": 2.08, "ausgehändigt": 2.05, "zustand": 2.04, "zählerstand": 2.03,
  "zählerstände": 2.03, "übergeben": 2.03, "carpet": 1.95, "scuff": 1.95, "walls": 1.95, "^move-in": 1.93,
  "^*übergabeprotokoll": 1.92, "^abnahmeprotokoll": 1.92, "^check-in inventory": 1.92, "^check-out inventory": 1.92,
  "^condition checklist": 1.92, "^endabnahme": 1.92, "^handover": 1.92, "^handover protocol": 1.92,
  "^inspection form": 1.92, "^inventory report": 1.92, "^inventory schedule": 1.92, "^move-out": 1.92,
  "^move-out inspection": 1.92, "^protokoll abnahme": 1.92, "^protokoll besitzübergabe": 1.92,
  "^protokoll übergabe": 1.92, "^rückgabeprotokoll": 1.92, "^schedule of condition": 1.92, "^schlüsselübergabe": 1.92,
  "^vorabnahme": 1.92, "^walk-through": 1.92, "^wohnungsabnahme": 1.92, "^wohnungsübergabe": 1.92,
  "^zustandsbericht": 1.92, "clean": 1.91, "abgelesen": 1.85, "beanstand": 1.85, "begangen": 1.85, "besenrein": 1.85,
  "briefkasten": 1.85, "damaged": 1.85, "dübellöcher": 1.85, "festgestellt mängel": 1.85, "flecken": 1.85,
  "fliese": 1.85, "haustür": 1.85, "heizkörper": 1.85, "keys handed": 1.85, "keys returned": 1.85, "kratzer": 1.85,
  "laminat": 1.85, "meter readings": 1.85, "mängelliste": 1.85, "parkett": 1.85, "rauchmelder": 1.85, "rundgang": 1.85,
  "smoke alarm": 1.85, "stain": 1.85, "stromzähler": 1.85, "transponder": 1.85, "wasseruhr": 1.85,
  "wasserzähler": 1.85, "wear and tear": 1.85, "condition": 1.84, "einzug": 1.84, "inspected": 1.8, "keys": 1.78,
  "beschädigt": 1.77, "besichtigt": 1.77, "in ordnung": 1.7, "strom": 1.62, "^schlüssel": 1.23, "wasser": 1.16,
  "bad": 1.01, "anwesend": 1, "balkon": 1, "protokoll": 1, "^abgelesen": 0.92, "^ablesung": 0.92,
  "^ausgehändigt": 0.92, "^auszug": 0.92, "^beanstand": 0.92, "^begangen": 0.92, "^beschädigt": 0.92,
  "^besenrein": 0.92, "^briefkasten": 0.92, "^carpet": 0.92, "^clean": 0.92, "^condition": 0.92, "^damaged": 0.92,
  "^dübellöcher": 0.92, "^einzug": 0.92, "^festgestellt mängel": 0.92, "^flecken": 0.92, "^fliese": 0.92,
  "^gestrichen": 0.92, "^haustür": 0.92, "^heizkörper": 0.92, "^in ordnung": 0.92, "^inspected": 0.92, "^keys": 0.92,
  "^keys handed": 0.92, "^keys returned": 0.92, "^kratzer": 0.92, "^laminat": 0.92, "^meter readings": 0.92,
  "^mängel": 0.92, "^mängelliste": 0.92, "^parkett": 0.92, "^rauchmelder": 0.92, "^rundgang": 0.92, "^scuff": 0.92,
  "^smoke alarm": 0.92, "^stain": 0.92, "^stromzähler": 0.92, "^transponder": 0.92, "^walls": 0.92, "^wasseruhr": 0.92,
  "^wasserzähler": 0.92, "^wear and tear": 0.92, "^zustand": 0.92, "^zählerstand": 0.92, "^zählerstände": 0.92,
  "^übergeben": 0.92, "keller": 0.92, "küche": 0.88, "kitchen": 0.87, "^besichtigt": 0.84, "gas": 0.78, "flur": 0.77,
  "garage": 0.77, "schlafzimmer": 0.77, "wohnzimmer": 0.77, "bedroom": 0.76, "fenster": 0.71, "bathroom": 0.7,
  "unterschrift": 0.68, "käufer": 0.22, "*": -0.33, "wartung": -0.84, "arbeitspreis": -1.54, "grundmiete": -1.54,
  "gutachten": -1.54, "kaufpreis beträgt": -1.54, "kaution beträgt": -1.54, "monatlich": -1.54, "sublet": -1.54,
  "top": -1.54, "hiermit kündig": -1.55, "kündige": -1.55, "rechnungsbetrag": -1.56
}},
{"label": "Angebot", "label_en": "Quotation", "node": "works/quotations",
  "key": "quotation", "evidence": {
  "estimated total": 3.94, "quote": 3.89, "tender": 3.89, "angebot gültig": 3.85, "angebot nr": 3.85,
  "angebots-nr": 3.85, "angebotsnummer": 3.85, "angebotssumme": 3.85, "auftragserteilung": 3.85, "bindefrist": 3.85,
  "freibleibend": 3.85, "kostenvoranschlag": 3.85, "nachtragsangebot": 3.85, "offer valid": 3.85, "our offer": 3.85,
  "prepared for": 3.85, "quotation": 3.85, "unterbreiten": 3.85, "bieten wir": 3.42, "bieten ihnen": 3.38,
  "leistungsumfang": 2.66, "gültig bis": 2.23, "angebot": 2.07, "ausführung": 2.03, "^quote": 1.97,
  "voraussichtlich": 1.97, "^tender": 1.96, "to accept": 1.93, "^angebot gültig": 1.92, "^angebot nr": 1.92,
  "^angebots-nr": 1.92, "^angebotsnummer": 1.92, "^angebotssumme": 1.92, "^auftragserteilung": 1.92,
  "^bieten ihnen": 1.92, "^bieten wir": 1.92, "^bindefrist": 1.92, "^estimated total": 1.92, "^freibleibend": 1.92,
  "^kostenvoranschlag": 1.92, "^nachtragsangebot": 1.92, "^offer valid": 1.92, "^our offer": 1.92,
  "^prepared for": 1.92, "^quotation": 1.92, "^unterbreiten": 1.92, "not included": 1.92, "estimate": 1.91,
  "beauftragung": 1.9, "offer": 1.89, "preisgarantie": 1.88, "good for": 1.87, "annahme": 1.85, "auftrag freuen": 1.85,
  "ausführungszeit": 1.85, "bauseits": 1.85, "exclud": 1.85, "excluding vat": 1.85, "fixed price": 1.85,
  "gebunden": 1.85, "go ahead": 1.85, "ihre anfrage": 1.85, "ihren auftrag": 1.85, "konditionen": 1.85,
  "lead time": 1.85, "leistungsverzeichnis": 1.85, "lv": 1.85, "open for acceptance": 1.85, "option": 1.85,
  "ortstermin": 1.85, "plus vat": 1.85, "price includes": 1.85, "pricing": 1.85, "scope": 1.85, "scope of works": 1.85,
  "sign and return": 1.85, "unverbindlich": 1.85, "valid until": 1.85, "vielen dank anfrage": 1.85,
  "zur annahme": 1.85, "annehmen": 1.84, "proposal": 1.78, "netto": 1.75, "valid for": 1.75,
  "wir würden uns freuen": 1.39, "anfrage": 1.35, "^angebot": 1.1, "^gültig bis": 1.09, "^estimate": 1.02,
  "^anfrage": 0.92, "^annahme": 0.92, "^annehmen": 0.92, "^auftrag freuen": 0.92, "^ausführung": 0.92,
  "^ausführungszeit": 0.92, "^bauseits": 0.92, "^beauftragung": 0.92, "^exclud": 0.92, "^excluding vat": 0.92,
  "^fixed price": 0.92, "^gebunden": 0.92, "^go ahead": 0.92, "^good for": 0.92, "^ihre anfrage": 0.92,
  "^ihren auftrag": 0.92, "^konditionen": 0.92, "^lead time": 0.92, "^leistungsumfang": 0.92,
  "^leistungsverzeichnis": 0.92, "^lv": 0.92, "^not included": 0.92, "^offer": 0.92, "^open for acceptance": 0.92,
  "^option": 0.92, "^ortstermin": 0.92, "^plus vat": 0.92, "^preisgarantie": 0.92, "^price includes": 0.92,
  "^pricing": 0.92, "^proposal": 0.92, "^scope": 0.92, "^scope of works": 0.92, "^sign and return": 0.92,
  "^to accept": 0.92, "^unverbindlich": 0.92, "^valid for": 0.92, "^valid until": 0.92, "^vielen dank anfrage": 0.92,
  "^voraussichtlich": 0.92, "^wir würden uns freuen": 0.92, "^zur annahme": 0.92, "montage": 0.9, "mwst": 0.9,
  "zzgl": 0.9, "labor": 0.86, "price": 0.81, "lieferung": 0.77, "material": 0.77, "pos": 0.77, "vat": 0.77,
  "summe": 0.73, "abrechnung": 0.27, "zum nächst": -0.16, "arbeitszeit": -0.17, "nächstmöglichen": -0.17,
  "stellenausschreibung": -0.17, "miete": -0.18, "mieter": -0.19, "beschluss": -1.54, "fällig": -1.54,
  "invoice number": -1.54, "mahnung": -1.54, "rechnungsnummer": -1.54, "resolved": -1.54, "seconded": -1.54,
  "stellen rechnung": -1.54, "versicherungsschein": -1.54, "abstimmung": -1.55, "kaufpreis": -1.55,
  "rechnungsbetrag": -1.55, "zahlbar": -1.56
}},
{"label": "Sonstiges", "label_en": "Other", "node": "inbox",
  "key": "other", "evidence": {
  "stellenausschreibung": 4.47, "survey report": 4.11, "bedienungsanleitung": 4.09, "zutaten": 4.09,
  "^hausordnung": 3.99, "teilungserklärung mit": 3.99, "wartungsprotokoll": 3.99, "curriculum vitae": 3.98,
  "lieferschein": 3.91, "^aushang": 3.9, "^vollmacht": 3.89, "bescheinigung": 3.89, "house rules": 3.87,
  "^einladung": 3.86, "gutachten": 3.86, "newsletter": 3.86, "arztbrief": 3.85, "baugenehmigung": 3.85,
  "bewerbung": 3.85, "datenschutz": 3.85, "delivery note": 3.85, "instruction manual": 3.85, "laden sie": 3.85,
  "lebenslauf": 3.85, "mieterhöhung": 3.85, "mieterhöhungsverlangen": 3.85, "mietschuldenfrei": 3.85,
  "privacy notice": 3.85, "schadenanzeige": 3.85, "schadenmeldung": 3.85, "selbstauskunft": 3.85,
  "wohnungsgeberbestätigung": 3.85, "wirtschaftsplan für": 3.79, "*": 3.71, "abmahnung": 3.57, "invited": 2.45,
  "hausmeister": 2.32, "erlaubnis": 2.27, "mietspiegel": 2.26, "school": 2.26, "sachverständig": 2.24,
  "bevollmächtig": 2.22, "dear neighbours": 2.21, "aufsichtsbehörde": 2.2, "^teilungserklärung mit": 2.07,
  "interessent": 2.04, "nachbarn": 2.01, "ruhezeiten": 2, "befund": 1.99, "^lieferschein": 1.98, "patient": 1.98,
  "^bescheinigung": 1.97, "complain": 1.97, "^wirtschaftsplan für": 1.94, "^abmahnung": 1.93, "^datenschutz": 1.93,
  "^gutachten": 1.93, "^newsletter": 1.93, "^schadenmeldung": 1.93, "^arztbrief": 1.92, "^baugenehmigung": 1.92,
  "^bedienungsanleitung": 1.92, "^bewerbung": 1.92, "^curriculum vitae": 1.92, "^delivery note": 1.92,
  "^house rules": 1.92, "^instruction manual": 1.92, "^laden sie": 1.92, "^lebenslauf": 1.92, "^mieterhöhung": 1.92,
  "^mieterhöhungsverlangen": 1.92, "^mietschuldenfrei": 1.92, "^privacy notice": 1.92, "^schadenanzeige": 1.92,
  "^selbstauskunft": 1.92, "^stellenausschreibung": 1.92, "^survey report": 1.92, "^wartungsprotokoll": 1.92,
  "^wohnungsgeberbestätigung": 1.92, "^zutaten": 1.92, "ausbildung": 1.85, "besichtigungstermin": 1.85,
  "genehmigung erteilt": 1.85, "hobbys": 1.85, "lärm": 1.85, "manual": 1.85, "noise": 1.85, "party": 1.85,
  "personal data": 1.85, "recipe": 1.85, "safety instructions": 1.85, "schule": 1.85, "speicherdauer": 1.85,
  "studium": 1.85, "vergleichsmiete": 1.85, "zustimmung erhöhung": 1.85, "wartung": 1.45, "fotos": 1.32,
  "^interessent": 1.12, "^complain": 1.05, "love": 1.01, "^wartung": 0.93, "^aufsichtsbehörde": 0.92,
  "^ausbildung": 0.92, "^befund": 0.92, "^besichtigungstermin": 0.92, "^bevollmächtig": 0.92, "^dear neighbours": 0.92,
  "^erlaubnis": 0.92, "^genehmigung erteilt": 0.92, "^hobbys": 0.92, "^invited": 0.92, "^lärm": 0.92, "^manual": 0.92,
  "^mietspiegel": 0.92, "^nachbarn": 0.92, "^noise": 0.92, "^party": 0.92, "^patient": 0.92, "^personal data": 0.92,
  "^recipe": 0.92, "^ruhezeiten": 0.92, "^sachverständig": 0.92, "^safety instructions": 0.92, "^school": 0.92,
  "^schule": 0.92, "^speicherdauer": 0.92, "^studium": 0.92, "^vergleichsmiete": 0.92, "^zustimmung erhöhung": 0.92,
  "^hausmeister": 0.91, "hello": 0.89, "information": 0.79, "bitte beachten": 0.78, "children": 0.77, "kinder": 0.77,
  "liebe": 0.77, "garden": 0.72, "blatt": 0.49, "haustier": 0.34, "bathroom": 0.32, "in ordnung": 0.31,
  "anfrage": 0.21, "arbeitszeit": 0.21, "miete": 0.21, "nächstmöglichen": 0.21, "agenda": 0.2, "bieten ihnen": 0.2,
  "beschädigt": 0.18, "fenster": 0.18, "wir würden uns freuen": 0.17, "bieten wir": 0.16, "zum nächst": 0.16,
  "vorläufig": 0.15, "beurkundung": -0.15, "mehrwertsteuer": -0.15, "rent is": -0.15, "käufer": -0.16,
  "nebenkosten": -0.16, "payment": -0.16, "rent": -0.17, "verbrauch": -0.17, "vermieter": -0.17,
  "vorauszahlungen": -0.17, "zahlung": -0.17, "bic": -0.18, "due date": -0.18, "iban": -0.18, "mietvertrag": -0.19,
  "valid for": -0.19, "zahlen": -0.19, "warmwasser": -0.21, "müll": -0.23, "notar": -0.23, "gas": -0.24,
  "betrag": -0.25, "netto": -0.25, "kündig": -0.34
}}]
$types$) as shipped(key text, label text, label_en text, node text, evidence jsonb);
