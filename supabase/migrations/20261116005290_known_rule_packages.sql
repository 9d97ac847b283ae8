-- The rules that every tenant has, tested. infra/local/make_rules.py writes this file.

insert into public.rule_packages (id, name)
values ('90ab71ca-7893-5776-8d77-18a042801f65', 'battery-passport');

insert into public.rule_package_versions (
  id, rule_package_id, version, status, published_at, rules_hash, dsl_source, tests_source
)
values (
  '9ab31084-250f-5c7e-a42c-bc0bb451fea1', '90ab71ca-7893-5776-8d77-18a042801f65', '2027.1', 'published',
  clock_timestamp(), '\xcfca5f6b63f66b2a5dd42167fc4d1fe92b8ea31e9262261b1ae4e2395f839a2e',
  $rules$
{"title": "Battery passport by Regulation (EU) 2023/1542, Annex XIII", "facts": {"material": {"type": "object",
"properties": {"name": {"type": "string", "maxLength": 200}, "cas": {"type": "string", "maxLength": 20}, "mass": {
"type": "number", "minimum": 0, "maximum": 100000}, "unit": {"type": "string", "enum": ["KGM"]}, "location": {"type":
"string", "maxLength": 200}, "recycled_pre_consumer": {"type": "number", "minimum": 0, "maximum": 100},
"recycled_post_consumer": {"type": "number", "minimum": 0, "maximum": 100}, "is_critical": {"type": "boolean"},
"is_hazardous": {"type": "boolean"}}, "required": ["name", "mass", "unit"]}, "carbon_footprint": {"type": "object",
"properties": {"stage": {"type": "string", "maxLength": 200}, "value": {"type": "number", "minimum": -1000, "maximum"
: 10000}, "unit": {"type": "string", "enum": ["kgCO2e/kWh"]}}, "required": ["stage", "value", "unit"]},
"due_diligence": {"type": "object", "properties": {"title": {"type": "string", "maxLength": 500}, "url": {"type":
"string", "format": "uri"}, "issued_on": {"type": "string", "format": "date"}, "scheme": {"type": "string",
"maxLength": 200}}, "required": ["title"]}}, "attributes": [{"path": "general.product_identifier", "words":
"Unique identifier of the battery", "access": "public", "schema": {"type": "string", "maxLength": 500}, "duty": [{
"duty": "mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path":
"general.battery_passport_identifier", "words": "Unique identifier of the passport", "access": "public", "schema": {
"type": "string", "maxLength": 500}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial"
, "stationary"], "from": "2027-02-18"}]}, {"path": "general.model_identifier", "words":
"Identifier of the battery model", "access": "public", "schema": {"type": "string", "maxLength": 500}, "duty": [{
"duty": "mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path":
"general.battery_category", "words": "Category by the regulation", "access": "public", "schema": {"type": "string",
"enum": ["ev", "lmt", "industrial", "stationary"]}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt"
, "industrial", "stationary"], "from": "2027-02-18"}]}, {"path": "general.manufacturer_name", "words":
"Name of the manufacturer", "access": "public", "schema": {"type": "string", "maxLength": 500}, "duty": [{"duty":
"mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path":
"general.manufacturer_identifier", "words": "Identifier of the manufacturer", "access": "public", "schema": {"type":
"string", "maxLength": 500}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial", "stationary"],
"from": "2027-02-18"}]}, {"path": "general.manufacturer_address", "words": "Postal address of the manufacturer",
"access": "public", "schema": {"type": "string", "maxLength": 500}, "duty": [{"duty": "mandatory", "categories": ["ev"
, "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path": "general.operator_identifier", "words":
"Identifier of the economic operator who answers for the passport", "access": "public", "schema": {"type": "string",
"maxLength": 500}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from":
"2027-02-18"}]}, {"path": "general.manufacturing_place", "words": "Place of manufacture", "access": "public", "schema"
: {"type": "string", "maxLength": 500}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial"
, "stationary"], "from": "2027-02-18"}]}, {"path": "general.manufacturing_date", "words": "Day of manufacture",
"access": "public", "schema": {"type": "string", "format": "date"}, "duty": [{"duty": "mandatory", "categories": ["ev"
, "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path": "general.putting_into_service", "words":
"Day of putting into service", "access": "legitimate_interest", "schema": {"type": "string", "format": "date"}}, {
"path": "general.battery_mass", "words": "Mass of the battery", "unit": "KGM", "access": "public", "schema": {"type":
"number", "minimum": 0.01, "maximum": 100000}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial"
, "stationary"], "from": "2027-02-18"}]}, {"path": "general.battery_status", "words": "Status of the battery",
"access": "legitimate_interest", "schema": {"type": "string", "enum": ["original", "repurposed", "reused"
, "remanufactured", "waste"]}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial", "stationary"]
, "from": "2027-02-18"}]}, {"path": "general.warranty_period", "words": "Period of the commercial warranty", "unit":
"MON", "access": "public", "schema": {"type": "integer", "minimum": 0, "maximum": 600}, "duty": [{"duty": "mandatory"
, "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path":
"labels.separate_collection", "words": "Symbol of separate collection", "access": "public", "schema": {"type":
"string", "format": "uri"}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial", "stationary"],
"from": "2027-02-18"}]}, {"path": "labels.contains_cadmium", "words": "Whether the symbol Cd is needed", "access":
"public", "schema": {"type": "boolean"}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial"
, "stationary"], "from": "2027-02-18"}]}, {"path": "labels.contains_lead", "words": "Whether the symbol Pb is needed"
, "access": "public", "schema": {"type": "boolean"}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt"
, "industrial", "stationary"], "from": "2027-02-18"}]}, {"path": "labels.meaning", "words":
"Meaning of labels and symbols", "access": "public", "schema": {"type": "string", "format": "uri"}, "duty": [{"duty":
"mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path":
"labels.carbon_footprint_label", "words": "Carbon footprint label", "access": "public", "schema": {"type": "string",
"format": "uri"}, "duty": [{"duty": "mandatory", "categories": ["ev"], "from": "2027-02-18"}, {"duty": "mandatory",
"categories": ["industrial", "stationary"], "from": "2027-08-18"}, {"duty": "mandatory", "categories": ["lmt"], "from"
: "2030-02-18"}]}, {"path": "labels.declaration_of_conformity", "words": "EU declaration of conformity", "access":
"public", "schema": {"type": "string", "format": "uri"}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt"
, "industrial", "stationary"], "from": "2027-02-18"}]}, {"path": "labels.declaration_identifier", "words":
"Identifier of the declaration of conformity", "access": "public", "schema": {"type": "string", "maxLength": 500}}, {
"path": "labels.test_reports", "words": "Results of tests that prove compliance", "access": "authorities", "schema": {
"type": "string", "format": "uri"}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial"
, "stationary"], "from": "2027-02-18"}]}, {"path": "carbon_footprint.total", "words":
"Carbon footprint over the life cycle, per kWh of the total energy", "unit": "kgCO2e/kWh", "access": "public",
"schema": {"type": "number", "minimum": 0, "maximum": 10000}, "value": "rounded(sum.carbon_footprint.value, 6)",
"duty": [{"duty": "mandatory", "categories": ["ev", "industrial", "stationary"], "from": "2027-02-18"}, {"duty":
"mandatory", "categories": ["lmt"], "from": "2028-08-18"}]}, {"path": "carbon_footprint.stages", "words":
"Number of life-cycle stages declared", "access": "public", "schema": {"type": "integer", "minimum": 0, "maximum": 100
}, "value": "double(count.carbon_footprint)"}, {"path": "carbon_footprint.performance_class", "words":
"Carbon footprint performance class", "access": "public", "schema": {"type": "string", "enum": ["A", "B", "C", "D"
, "E"]}, "duty": [{"duty": "mandatory", "categories": ["ev"], "from": "2027-02-18"}, {"duty": "mandatory",
"categories": ["industrial", "stationary"], "from": "2027-08-18"}, {"duty": "mandatory", "categories": ["lmt"], "from"
: "2030-02-18"}]}, {"path": "carbon_footprint.study", "words": "Public version of the carbon footprint study",
"access": "public", "schema": {"type": "string", "format": "uri"}, "duty": [{"duty": "mandatory", "categories": ["ev"
, "industrial", "stationary"], "from": "2027-02-18"}, {"duty": "mandatory", "categories": ["lmt"], "from":
"2028-08-18"}]}, {"path": "carbon_footprint.absolute", "words": "Absolute carbon footprint of the battery", "unit":
"kgCO2e", "access": "public", "schema": {"type": "number", "minimum": 0, "maximum": 10000000}}, {"path":
"carbon_footprint.primary_data_share", "words": "Share of primary data", "unit": "P1", "access": "public", "schema": {
"type": "number", "minimum": 0, "maximum": 100}}, {"path": "due_diligence.report", "words":
"Report on supply chain due diligence", "access": "public", "schema": {"type": "string", "format": "uri"}, "duty": [{
"duty": "mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-08-18"}]}, {"path":
"due_diligence.third_party_assurances", "words": "Third-party assurances", "access": "public", "schema": {"type":
"string", "format": "uri"}}, {"path": "due_diligence.supply_chain_index", "words": "Index of the supply chain", "unit"
: "P1", "access": "public", "schema": {"type": "number", "minimum": 0, "maximum": 100}}, {"path":
"due_diligence.documents", "words": "Number of due diligence documents", "access": "public", "schema": {"type":
"integer", "minimum": 0, "maximum": 20000}, "value": "double(count.due_diligence)"}, {"path": "materials.chemistry",
"words": "Battery chemistry", "access": "public", "schema": {"type": "string", "maxLength": 500}, "duty": [{"duty":
"mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path":
"materials.critical_raw_materials", "words": "Critical raw materials above 0.1 % by mass", "access": "public",
"schema": {"type": "array", "items": {"type": "string", "maxLength": 200}}, "duty": [{"duty": "mandatory",
"categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path":
"materials.hazardous_substances", "words": "Hazardous substances other than mercury, cadmium and lead", "access":
"public", "schema": {"type": "array", "items": {"type": "string", "maxLength": 200}}, "duty": [{"duty": "mandatory",
"categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path":
"materials.impact_of_substances", "words": "Impact of substances on environment and health", "access": "public",
"schema": {"type": "string", "format": "uri"}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial"
, "stationary"], "from": "2027-02-18"}]}, {"path": "materials.cathode", "words": "Materials of the cathode", "access"
: "restricted", "schema": {"type": "array", "items": {"type": "string", "maxLength": 200}}, "duty": [{"duty":
"mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path":
"materials.anode", "words": "Materials of the anode", "access": "restricted", "schema": {"type": "array", "items": {
"type": "string", "maxLength": 200}}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial"
, "stationary"], "from": "2027-02-18"}]}, {"path": "materials.electrolyte", "words": "Materials of the electrolyte",
"access": "restricted", "schema": {"type": "array", "items": {"type": "string", "maxLength": 200}}, "duty": [{"duty":
"mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path":
"materials.total_mass", "words": "Mass of all materials declared", "unit": "KGM", "access": "restricted", "schema": {
"type": "number", "minimum": 0, "maximum": 100000}, "value": "rounded(sum.material.mass, 6)"}, {"path":
"materials.declared", "words": "Number of materials declared", "access": "restricted", "schema": {"type": "integer",
"minimum": 0, "maximum": 20000}, "value": "double(count.material)"}, {"path": "circularity.pre_consumer_nickel",
"words": "Share of nickel recovered from pre-consumer waste", "unit": "P1", "access": "public", "schema": {"type":
"number", "minimum": 0, "maximum": 100}, "duty": [{"duty": "mandatory", "categories": ["ev", "industrial"
, "stationary"], "from": "2028-08-18"}, {"duty": "mandatory", "categories": ["lmt"], "from": "2033-08-18"}]}, {"path"
: "circularity.post_consumer_nickel", "words": "Share of nickel recovered from post-consumer waste", "unit": "P1",
"access": "public", "schema": {"type": "number", "minimum": 0, "maximum": 100}, "duty": [{"duty": "mandatory",
"categories": ["ev", "industrial", "stationary"], "from": "2028-08-18"}, {"duty": "mandatory", "categories": ["lmt"],
"from": "2033-08-18"}]}, {"path": "circularity.pre_consumer_cobalt", "words":
"Share of cobalt recovered from pre-consumer waste", "unit": "P1", "access": "public", "schema": {"type": "number",
"minimum": 0, "maximum": 100}, "duty": [{"duty": "mandatory", "categories": ["ev", "industrial", "stationary"], "from"
: "2028-08-18"}, {"duty": "mandatory", "categories": ["lmt"], "from": "2033-08-18"}]}, {"path":
"circularity.post_consumer_cobalt", "words": "Share of cobalt recovered from post-consumer waste", "unit": "P1",
"access": "public", "schema": {"type": "number", "minimum": 0, "maximum": 100}, "duty": [{"duty": "mandatory",
"categories": ["ev", "industrial", "stationary"], "from": "2028-08-18"}, {"duty": "mandatory", "categories": ["lmt"],
"from": "2033-08-18"}]}, {"path": "circularity.pre_consumer_lithium", "words":
"Share of lithium recovered from pre-consumer waste", "unit": "P1", "access": "public", "schema": {"type": "number",
"minimum": 0, "maximum": 100}, "duty": [{"duty": "mandatory", "categories": ["ev", "industrial", "stationary"], "from"
: "2028-08-18"}, {"duty": "mandatory", "categories": ["lmt"], "from": "2033-08-18"}]}, {"path":
"circularity.post_consumer_lithium", "words": "Share of lithium recovered from post-consumer waste", "unit": "P1",
"access": "public", "schema": {"type": "number", "minimum": 0, "maximum": 100}, "duty": [{"duty": "mandatory",
"categories": ["ev", "industrial", "stationary"], "from": "2028-08-18"}, {"duty": "mandatory", "categories": ["lmt"],
"from": "2033-08-18"}]}, {"path": "circularity.pre_consumer_lead", "words":
"Share of lead recovered from pre-consumer waste", "unit": "P1", "access": "public", "schema": {"type": "number",
"minimum": 0, "maximum": 100}}, {"path": "circularity.post_consumer_lead", "words":
"Share of lead recovered from post-consumer waste", "unit": "P1", "access": "public", "schema": {"type": "number",
"minimum": 0, "maximum": 100}}, {"path": "circularity.renewable_content", "words": "Share of renewable content",
"unit": "P1", "access": "public", "schema": {"type": "number", "minimum": 0, "maximum": 100}, "duty": [{"duty":
"mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path":
"circularity.dismantling_manual", "words": "Manual for removal and dismantling", "access": "restricted", "schema": {
"type": "string", "format": "uri"}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial"
, "stationary"], "from": "2027-02-18"}]}, {"path": "circularity.part_numbers", "words": "Part numbers of components",
"access": "restricted", "schema": {"type": "array", "items": {"type": "string", "maxLength": 200}}, "duty": [{"duty":
"mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path":
"circularity.spare_part_suppliers", "words": "Suppliers of spare parts", "access": "restricted", "schema": {"type":
"string", "maxLength": 500}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial", "stationary"],
"from": "2027-02-18"}]}, {"path": "circularity.safety_measures", "words": "Safety measures for dismantling", "access"
: "restricted", "schema": {"type": "string", "format": "uri"}, "duty": [{"duty": "mandatory", "categories": ["ev"
, "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path": "circularity.extinguishing_agents", "words":
"Usable extinguishing agents", "access": "public", "schema": {"type": "array", "items": {"type": "string", "maxLength"
: 200}}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}
]}, {"path": "circularity.waste_prevention", "words": "Role of end users in preventing waste", "access": "public",
"schema": {"type": "string", "format": "uri"}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial"
, "stationary"], "from": "2027-02-18"}]}, {"path": "circularity.separate_collection", "words":
"Role of end users in separate collection", "access": "public", "schema": {"type": "string", "format": "uri"}, "duty"
: [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path":
"circularity.collection_points", "words": "Take-back, second life and treatment at end of life", "access": "public",
"schema": {"type": "string", "format": "uri"}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial"
, "stationary"], "from": "2027-02-18"}]}, {"path": "performance.rated_capacity", "words": "Rated capacity", "unit":
"AMH", "access": "public", "schema": {"type": "number", "minimum": 0.01, "maximum": 1000000.0}, "duty": [{"duty":
"mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path":
"performance.remaining_capacity", "words": "Remaining capacity", "unit": "AMH", "access": "legitimate_interest",
"schema": {"type": "number", "minimum": 0, "maximum": 1000000.0}, "duty": [{"duty": "mandatory", "categories": ["ev"
, "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path": "performance.capacity_fade", "words":
"Capacity fade", "unit": "P1", "access": "legitimate_interest", "schema": {"type": "number", "minimum": 0, "maximum":
100}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}
, {"path": "performance.certified_usable_energy", "words": "Usable energy as certified", "unit": "KWH", "access":
"public", "schema": {"type": "number", "minimum": 0.01, "maximum": 1000000.0}, "duty": [{"duty": "mandatory",
"categories": ["ev"], "from": "2027-02-18"}, {"duty": "withheld", "categories": ["lmt", "industrial", "stationary"]}]}
, {"path": "performance.remaining_usable_energy", "words": "Remaining usable energy", "unit": "KWH", "access":
"legitimate_interest", "schema": {"type": "number", "minimum": 0, "maximum": 1000000.0}}, {"path":
"performance.state_of_certified_energy", "words": "State of certified energy", "unit": "P1", "access":
"legitimate_interest", "schema": {"type": "number", "minimum": 0, "maximum": 100}, "duty": [{"duty": "mandatory",
"categories": ["ev"], "from": "2027-02-18"}, {"duty": "withheld", "categories": ["lmt", "industrial", "stationary"]}]}
, {"path": "performance.state_of_charge", "words": "State of charge", "unit": "P1", "access": "legitimate_interest",
"schema": {"type": "number", "minimum": 0, "maximum": 100}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt"
, "industrial", "stationary"], "from": "2027-02-18"}]}, {"path": "performance.minimum_voltage", "words":
"Minimum voltage", "unit": "VLT", "access": "public", "schema": {"type": "number", "minimum": 0, "maximum": 10000},
"duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {
"path": "performance.nominal_voltage", "words": "Nominal voltage", "unit": "VLT", "access": "public", "schema": {
"type": "number", "minimum": 0.1, "maximum": 10000}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt"
, "industrial", "stationary"], "from": "2027-02-18"}]}, {"path": "performance.maximum_voltage", "words":
"Maximum voltage", "unit": "VLT", "access": "public", "schema": {"type": "number", "minimum": 0.1, "maximum": 10000},
"duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {
"path": "performance.original_power_capability", "words": "Original power capability", "unit": "WTT", "access":
"public", "schema": {"type": "number", "minimum": 0, "maximum": 1000000000.0}, "duty": [{"duty": "mandatory",
"categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path":
"performance.remaining_power_capability", "words": "Remaining power capability", "unit": "WTT", "access":
"legitimate_interest", "schema": {"type": "number", "minimum": 0, "maximum": 1000000000.0}, "duty": [{"duty":
"mandatory", "categories": ["lmt", "stationary"], "from": "2027-02-18"}]}, {"path": "performance.power_fade", "words"
: "Power fade", "unit": "P1", "access": "legitimate_interest", "schema": {"type": "number", "minimum": 0, "maximum":
100}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}
, {"path": "performance.maximum_permitted_power", "words": "Maximum permitted battery power", "unit": "WTT", "access"
: "public", "schema": {"type": "number", "minimum": 0, "maximum": 1000000000.0}, "duty": [{"duty": "mandatory",
"categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path":
"performance.power_to_energy_ratio", "words": "Ratio of permitted power to energy", "access": "public", "schema": {
"type": "number", "minimum": 0, "maximum": 1000}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt"
, "industrial", "stationary"], "from": "2027-02-18"}]}, {"path": "performance.initial_round_trip_efficiency", "words"
: "Initial round trip efficiency", "unit": "P1", "access": "public", "schema": {"type": "number", "minimum": 0.01,
"maximum": 100}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from":
"2027-02-18"}]}, {"path": "performance.round_trip_efficiency_at_half_life", "words":
"Round trip efficiency at half of the cycle life", "unit": "P1", "access": "public", "schema": {"type": "number",
"minimum": 0, "maximum": 100}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial", "stationary"]
, "from": "2027-02-18"}]}, {"path": "performance.remaining_round_trip_efficiency", "words":
"Remaining round trip efficiency", "unit": "P1", "access": "legitimate_interest", "schema": {"type": "number",
"minimum": 0, "maximum": 100}, "duty": [{"duty": "mandatory", "categories": ["lmt", "stationary"], "from":
"2027-02-18"}]}, {"path": "performance.round_trip_efficiency_fade", "words":
"Fade of round trip efficiency, with respect to the initial one", "unit": "P1", "access": "legitimate_interest",
"schema": {"type": "number", "minimum": 0, "maximum": 100}, "value":
"rounded(100.0 - 100.0 * performance.remaining_round_trip_efficiency / performance.initial_round_trip_efficiency, 6)"}
, {"path": "performance.initial_self_discharge", "words": "Initial rate of self-discharge per month", "unit": "P1",
"access": "public", "schema": {"type": "number", "minimum": 0, "maximum": 100}, "duty": [{"duty": "withheld",
"categories": ["ev"]}]}, {"path": "performance.current_self_discharge", "words":
"Current rate of self-discharge per month", "unit": "P1", "access": "legitimate_interest", "schema": {"type": "number"
, "minimum": 0, "maximum": 100}, "duty": [{"duty": "mandatory", "categories": ["lmt", "stationary"], "from":
"2027-02-18"}, {"duty": "withheld", "categories": ["ev"]}]}, {"path": "performance.initial_cell_resistance", "words":
"Initial internal resistance of cells", "unit": "OHM", "access": "public", "schema": {"type": "number", "minimum": 0,
"maximum": 1000}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from":
"2027-02-18"}]}, {"path": "performance.initial_pack_resistance", "words": "Initial internal resistance of the pack",
"unit": "OHM", "access": "public", "schema": {"type": "number", "minimum": 0, "maximum": 1000}, "duty": [{"duty":
"mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path":
"performance.current_pack_resistance", "words": "Current internal resistance of the pack", "unit": "OHM", "access":
"legitimate_interest", "schema": {"type": "number", "minimum": 0, "maximum": 1000}, "duty": [{"duty": "mandatory",
"categories": ["lmt", "stationary"], "from": "2027-02-18"}]}, {"path": "performance.resistance_increase", "words":
"Increase of internal resistance", "unit": "P1", "access": "legitimate_interest", "schema": {"type": "number",
"minimum": -100, "maximum": 1000}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial"
, "stationary"], "from": "2027-02-18"}]}, {"path": "performance.expected_cycles", "words":
"Expected lifetime in cycles", "access": "public", "schema": {"type": "integer", "minimum": 1, "maximum": 1000000},
"duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {
"path": "performance.full_cycles", "words": "Number of full charging and discharging cycles", "access":
"legitimate_interest", "schema": {"type": "integer", "minimum": 0, "maximum": 1000000}, "duty": [{"duty": "mandatory"
, "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {"path":
"performance.cycle_life_reference_test", "words": "Reference test of the cycle life", "access": "public", "schema": {
"type": "string", "maxLength": 500}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial"
, "stationary"], "from": "2027-02-18"}]}, {"path": "performance.cycle_life_c_rate", "words":
"C-rate of the cycle-life test", "access": "public", "schema": {"type": "number", "minimum": 0.001, "maximum": 100},
"duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}, {
"path": "performance.energy_throughput", "words": "Energy throughput", "unit": "KWH", "access": "legitimate_interest"
, "schema": {"type": "number", "minimum": 0, "maximum": 1000000000.0}, "duty": [{"duty": "mandatory", "categories":
["lmt", "stationary"], "from": "2027-02-18"}]}, {"path": "performance.capacity_throughput", "words":
"Capacity throughput", "unit": "AMH", "access": "legitimate_interest", "schema": {"type": "number", "minimum": 0,
"maximum": 1000000000.0}, "duty": [{"duty": "mandatory", "categories": ["lmt", "stationary"], "from": "2027-02-18"}]}
, {"path": "performance.expected_lifetime", "words": "Expected lifetime", "unit": "ANN", "access": "public", "schema"
: {"type": "number", "minimum": 0.1, "maximum": 100}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt"
, "industrial", "stationary"], "from": "2027-02-18"}]}, {"path": "performance.exhaustion_threshold", "words":
"Capacity threshold for exhaustion", "unit": "P1", "access": "public", "schema": {"type": "number", "minimum": 0,
"maximum": 100}, "duty": [{"duty": "mandatory", "categories": ["ev"], "from": "2027-02-18"}, {"duty": "withheld",
"categories": ["lmt", "industrial", "stationary"]}]}, {"path": "performance.lower_temperature", "words":
"Lower end of the temperature range that the battery withstands", "unit": "CEL", "access": "public", "schema": {"type"
: "number", "minimum": -100, "maximum": 100}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial"
, "stationary"], "from": "2027-02-18"}]}, {"path": "performance.upper_temperature", "words":
"Upper end of the temperature range that the battery withstands", "unit": "CEL", "access": "public", "schema": {"type"
: "number", "minimum": -100, "maximum": 200}, "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial"
, "stationary"], "from": "2027-02-18"}]}, {"path": "performance.time_above_range", "words":
"Time above the temperature range", "unit": "HUR", "access": "legitimate_interest", "schema": {"type": "number",
"minimum": 0, "maximum": 1000000.0}, "duty": [{"duty": "mandatory", "categories": ["lmt", "stationary"], "from":
"2027-02-18"}]}, {"path": "performance.time_below_range", "words": "Time below the temperature range", "unit": "HUR",
"access": "legitimate_interest", "schema": {"type": "number", "minimum": 0, "maximum": 1000000.0}, "duty": [{"duty":
"mandatory", "categories": ["lmt", "stationary"], "from": "2027-02-18"}]}, {"path":
"performance.time_charging_above_range", "words": "Time of charging above the temperature range", "unit": "HUR",
"access": "legitimate_interest", "schema": {"type": "number", "minimum": 0, "maximum": 1000000.0}, "duty": [{"duty":
"mandatory", "categories": ["lmt", "stationary"], "from": "2027-02-18"}]}, {"path":
"performance.time_charging_below_range", "words": "Time of charging below the temperature range", "unit": "HUR",
"access": "legitimate_interest", "schema": {"type": "number", "minimum": 0, "maximum": 1000000.0}, "duty": [{"duty":
"mandatory", "categories": ["lmt", "stationary"], "from": "2027-02-18"}]}, {"path": "performance.deep_discharges",
"words": "Number of deep discharge events", "access": "legitimate_interest", "schema": {"type": "integer", "minimum":
0, "maximum": 1000000}, "duty": [{"duty": "mandatory", "categories": ["lmt", "stationary"], "from": "2027-02-18"}]}, {
"path": "performance.overcharges", "words": "Number of overcharge events", "access": "legitimate_interest", "schema":
{"type": "integer", "minimum": 0, "maximum": 1000000}}, {"path": "performance.accidents", "words":
"Information on accidents", "access": "legitimate_interest", "schema": {"type": "string", "maxLength": 500}, "duty": [
{"duty": "mandatory", "categories": ["ev", "lmt", "industrial", "stationary"], "from": "2027-02-18"}]}], "checks": [{
"code": "CATEGORY_DIFFERS", "check": "general.battery_category == category", "words":
"The category of the battery is not that of the passport", "severity": "error"}, {"code":
"MATERIALS_HEAVIER_THAN_BATTERY", "check":
"materials.total_mass <= general.battery_mass || close(materials.total_mass, general.battery_mass, 3)", "words":
"The materials are heavier than the battery", "severity": "error"}, {"code": "VOLTAGE_BELOW_MINIMUM", "check":
"performance.minimum_voltage <= performance.nominal_voltage", "words": "The nominal voltage is below the minimum",
"severity": "error"}, {"code": "VOLTAGE_ABOVE_MAXIMUM", "check":
"performance.nominal_voltage <= performance.maximum_voltage", "words": "The nominal voltage is above the maximum",
"severity": "error"}, {"code": "TEMPERATURES_OUT_OF_ORDER", "check":
"performance.lower_temperature < performance.upper_temperature", "words":
"The lower temperature must be below the upper one", "severity": "error"}, {"code": "CAPACITY_GREW", "check":
"performance.remaining_capacity <= performance.rated_capacity * 1.1", "words":
"The remaining capacity is far above the rated one", "severity": "error"}, {"code": "FADE_DIFFERS", "check":
"close(performance.capacity_fade, 100.0 - 100.0 * performance.remaining_capacity / performance.rated_capacity, 0)",
"words": "The capacity fade does not follow from the rated and the remaining capacity", "severity": "warning"}, {
"code": "ENERGY_GREW", "check": "performance.remaining_usable_energy <= performance.certified_usable_energy * 1.1",
"words": "The remaining energy is far above the certified one", "severity": "error"}, {"code": "POWER_GREW", "check":
"performance.remaining_power_capability <= performance.original_power_capability * 1.1", "words":
"The remaining power is far above the original one", "severity": "error"}, {"code": "CRITICAL_MATERIAL_UNNAMED",
"check":
"!facts.material.exists(m, has(m.is_critical) && m.is_critical) || size(materials.critical_raw_materials) > 0",
"words": "A material is critical, but no critical raw material is named", "severity": "error"}, {"code":
"SERVICE_BEFORE_MANUFACTURE", "check": "general.manufacturing_date <= general.putting_into_service", "words":
"The battery was put into service before it was made", "severity": "error"}, {"code": "RECYCLED_NICKEL_OVER_100",
"check": "circularity.pre_consumer_nickel + circularity.post_consumer_nickel <= 100.0", "words":
"The recycled shares of nickel are above 100 %", "severity": "error"}, {"code": "RECYCLED_COBALT_OVER_100", "check":
"circularity.pre_consumer_cobalt + circularity.post_consumer_cobalt <= 100.0", "words":
"The recycled shares of cobalt are above 100 %", "severity": "error"}, {"code": "RECYCLED_LITHIUM_OVER_100", "check":
"circularity.pre_consumer_lithium + circularity.post_consumer_lithium <= 100.0", "words":
"The recycled shares of lithium are above 100 %", "severity": "error"}, {"code": "RECYCLED_LEAD_OVER_100", "check":
"circularity.pre_consumer_lead + circularity.post_consumer_lead <= 100.0", "words":
"The recycled shares of lead are above 100 %", "severity": "error"}]}
  $rules$,
  $tests$
{"examples": [{"name": "an ev battery", "category": "ev", "on": "2034-01-01", "attributes": {"carbon_footprint.total"
: 61, "materials.total_mass": 152.7, "performance.round_trip_efficiency_fade": 1.578947}, "facts": [{"fact_type":
"attribute", "fact_key": "general.product_identifier", "payload": {"value": "product identifier"}}, {"fact_type":
"attribute", "fact_key": "general.battery_passport_identifier", "payload": {"value": "battery passport identifier"}},
{"fact_type": "attribute", "fact_key": "general.model_identifier", "payload": {"value": "model identifier"}}, {
"fact_type": "attribute", "fact_key": "general.battery_category", "payload": {"value": "ev"}}, {"fact_type":
"attribute", "fact_key": "general.manufacturer_name", "payload": {"value": "manufacturer name"}}, {"fact_type":
"attribute", "fact_key": "general.manufacturer_identifier", "payload": {"value": "manufacturer identifier"}}, {
"fact_type": "attribute", "fact_key": "general.manufacturer_address", "payload": {"value": "manufacturer address"}}, {
"fact_type": "attribute", "fact_key": "general.operator_identifier", "payload": {"value": "operator identifier"}}, {
"fact_type": "attribute", "fact_key": "general.manufacturing_place", "payload": {"value": "manufacturing place"}}, {
"fact_type": "attribute", "fact_key": "general.manufacturing_date", "payload": {"value": "2027-01-15"}}, {"fact_type"
: "attribute", "fact_key": "general.putting_into_service", "payload": {"value": "2027-03-01"}}, {"fact_type":
"attribute", "fact_key": "general.battery_mass", "payload": {"value": 450, "unit": "KGM"}}, {"fact_type": "attribute"
, "fact_key": "general.battery_status", "payload": {"value": "original"}}, {"fact_type": "attribute", "fact_key":
"general.warranty_period", "payload": {"value": 24, "unit": "MON"}}, {"fact_type": "attribute", "fact_key":
"labels.separate_collection", "payload": {"value": "https://example.com/labels/separate-collection"}}, {"fact_type":
"attribute", "fact_key": "labels.contains_cadmium", "payload": {"value": false}}, {"fact_type": "attribute",
"fact_key": "labels.contains_lead", "payload": {"value": false}}, {"fact_type": "attribute", "fact_key":
"labels.meaning", "payload": {"value": "https://example.com/labels/meaning"}}, {"fact_type": "attribute", "fact_key":
"labels.carbon_footprint_label", "payload": {"value": "https://example.com/labels/carbon-footprint-label"}}, {
"fact_type": "attribute", "fact_key": "labels.declaration_of_conformity", "payload": {"value":
"https://example.com/labels/declaration-of-conformity"}}, {"fact_type": "attribute", "fact_key":
"labels.declaration_identifier", "payload": {"value": "declaration identifier"}}, {"fact_type": "attribute",
"fact_key": "labels.test_reports", "payload": {"value": "https://example.com/labels/test-reports"}}, {"fact_type":
"attribute", "fact_key": "carbon_footprint.performance_class", "payload": {"value": "A"}}, {"fact_type": "attribute",
"fact_key": "carbon_footprint.study", "payload": {"value": "https://example.com/carbon-footprint/study"}}, {
"fact_type": "attribute", "fact_key": "carbon_footprint.absolute", "payload": {"value": 4575, "unit": "kgCO2e"}}, {
"fact_type": "attribute", "fact_key": "carbon_footprint.primary_data_share", "payload": {"value": 5, "unit": "P1"}}, {
"fact_type": "attribute", "fact_key": "due_diligence.report", "payload": {"value":
"https://example.com/due-diligence/report"}}, {"fact_type": "attribute", "fact_key":
"due_diligence.third_party_assurances", "payload": {"value":
"https://example.com/due-diligence/third-party-assurances"}}, {"fact_type": "attribute", "fact_key":
"due_diligence.supply_chain_index", "payload": {"value": 5, "unit": "P1"}}, {"fact_type": "attribute", "fact_key":
"materials.chemistry", "payload": {"value": "NMC"}}, {"fact_type": "attribute", "fact_key":
"materials.critical_raw_materials", "payload": {"value": ["cobalt", "lithium", "nickel", "natural graphite"]}}, {
"fact_type": "attribute", "fact_key": "materials.hazardous_substances", "payload": {"value": ["LiPF6"]}}, {"fact_type"
: "attribute", "fact_key": "materials.impact_of_substances", "payload": {"value":
"https://example.com/materials/impact-of-substances"}}, {"fact_type": "attribute", "fact_key": "materials.cathode",
"payload": {"value": ["nickel", "manganese", "cobalt"]}}, {"fact_type": "attribute", "fact_key": "materials.anode",
"payload": {"value": ["graphite"]}}, {"fact_type": "attribute", "fact_key": "materials.electrolyte", "payload": {
"value": ["LiPF6"]}}, {"fact_type": "attribute", "fact_key": "circularity.pre_consumer_nickel", "payload": {"value": 5
, "unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.post_consumer_nickel", "payload": {"value": 5,
"unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.pre_consumer_cobalt", "payload": {"value": 5,
"unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.post_consumer_cobalt", "payload": {"value": 5,
"unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.pre_consumer_lithium", "payload": {"value": 5,
"unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.post_consumer_lithium", "payload": {"value": 5,
"unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.pre_consumer_lead", "payload": {"value": 5, "unit"
: "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.post_consumer_lead", "payload": {"value": 5, "unit":
"P1"}}, {"fact_type": "attribute", "fact_key": "circularity.renewable_content", "payload": {"value": 5, "unit": "P1"}}
, {"fact_type": "attribute", "fact_key": "circularity.dismantling_manual", "payload": {"value":
"https://example.com/circularity/dismantling-manual"}}, {"fact_type": "attribute", "fact_key":
"circularity.part_numbers", "payload": {"value": ["MOD-100", "BMS-7"]}}, {"fact_type": "attribute", "fact_key":
"circularity.spare_part_suppliers", "payload": {"value": "spare part suppliers"}}, {"fact_type": "attribute",
"fact_key": "circularity.safety_measures", "payload": {"value": "https://example.com/circularity/safety-measures"}}, {
"fact_type": "attribute", "fact_key": "circularity.extinguishing_agents", "payload": {"value": ["water"]}}, {
"fact_type": "attribute", "fact_key": "circularity.waste_prevention", "payload": {"value":
"https://example.com/circularity/waste-prevention"}}, {"fact_type": "attribute", "fact_key":
"circularity.separate_collection", "payload": {"value": "https://example.com/circularity/separate-collection"}}, {
"fact_type": "attribute", "fact_key": "circularity.collection_points", "payload": {"value":
"https://example.com/circularity/collection-points"}}, {"fact_type": "attribute", "fact_key":
"performance.rated_capacity", "payload": {"value": 200, "unit": "AMH"}}, {"fact_type": "attribute", "fact_key":
"performance.remaining_capacity", "payload": {"value": 190, "unit": "AMH"}}, {"fact_type": "attribute", "fact_key":
"performance.capacity_fade", "payload": {"value": 5, "unit": "P1"}}, {"fact_type": "attribute", "fact_key":
"performance.certified_usable_energy", "payload": {"value": 75, "unit": "KWH"}}, {"fact_type": "attribute", "fact_key"
: "performance.remaining_usable_energy", "payload": {"value": 71.5, "unit": "KWH"}}, {"fact_type": "attribute",
"fact_key": "performance.state_of_certified_energy", "payload": {"value": 5, "unit": "P1"}}, {"fact_type": "attribute"
, "fact_key": "performance.state_of_charge", "payload": {"value": 87, "unit": "P1"}}, {"fact_type": "attribute",
"fact_key": "performance.minimum_voltage", "payload": {"value": 280, "unit": "VLT"}}, {"fact_type": "attribute",
"fact_key": "performance.nominal_voltage", "payload": {"value": 400, "unit": "VLT"}}, {"fact_type": "attribute",
"fact_key": "performance.maximum_voltage", "payload": {"value": 450, "unit": "VLT"}}, {"fact_type": "attribute",
"fact_key": "performance.original_power_capability", "payload": {"value": 150000, "unit": "WTT"}}, {"fact_type":
"attribute", "fact_key": "performance.remaining_power_capability", "payload": {"value": 145000, "unit": "WTT"}}, {
"fact_type": "attribute", "fact_key": "performance.power_fade", "payload": {"value": 5, "unit": "P1"}}, {"fact_type":
"attribute", "fact_key": "performance.maximum_permitted_power", "payload": {"value": 160000, "unit": "WTT"}}, {
"fact_type": "attribute", "fact_key": "performance.power_to_energy_ratio", "payload": {"value": 2.1}}, {"fact_type":
"attribute", "fact_key": "performance.initial_round_trip_efficiency", "payload": {"value": 95, "unit": "P1"}}, {
"fact_type": "attribute", "fact_key": "performance.round_trip_efficiency_at_half_life", "payload": {"value": 5, "unit"
: "P1"}}, {"fact_type": "attribute", "fact_key": "performance.remaining_round_trip_efficiency", "payload": {"value":
93.5, "unit": "P1"}}, {"fact_type": "attribute", "fact_key": "performance.initial_cell_resistance", "payload": {
"value": 0.001, "unit": "OHM"}}, {"fact_type": "attribute", "fact_key": "performance.initial_pack_resistance",
"payload": {"value": 0.05, "unit": "OHM"}}, {"fact_type": "attribute", "fact_key":
"performance.current_pack_resistance", "payload": {"value": 0.055, "unit": "OHM"}}, {"fact_type": "attribute",
"fact_key": "performance.resistance_increase", "payload": {"value": 10, "unit": "P1"}}, {"fact_type": "attribute",
"fact_key": "performance.expected_cycles", "payload": {"value": 2000}}, {"fact_type": "attribute", "fact_key":
"performance.full_cycles", "payload": {"value": 120}}, {"fact_type": "attribute", "fact_key":
"performance.cycle_life_reference_test", "payload": {"value": "cycle life reference test"}}, {"fact_type": "attribute"
, "fact_key": "performance.cycle_life_c_rate", "payload": {"value": 0.5}}, {"fact_type": "attribute", "fact_key":
"performance.energy_throughput", "payload": {"value": 8400, "unit": "KWH"}}, {"fact_type": "attribute", "fact_key":
"performance.capacity_throughput", "payload": {"value": 24000, "unit": "AMH"}}, {"fact_type": "attribute", "fact_key"
: "performance.expected_lifetime", "payload": {"value": 12, "unit": "ANN"}}, {"fact_type": "attribute", "fact_key":
"performance.exhaustion_threshold", "payload": {"value": 80, "unit": "P1"}}, {"fact_type": "attribute", "fact_key":
"performance.lower_temperature", "payload": {"value": -20, "unit": "CEL"}}, {"fact_type": "attribute", "fact_key":
"performance.upper_temperature", "payload": {"value": 60, "unit": "CEL"}}, {"fact_type": "attribute", "fact_key":
"performance.time_above_range", "payload": {"value": 5, "unit": "HUR"}}, {"fact_type": "attribute", "fact_key":
"performance.time_below_range", "payload": {"value": 5, "unit": "HUR"}}, {"fact_type": "attribute", "fact_key":
"performance.time_charging_above_range", "payload": {"value": 5, "unit": "HUR"}}, {"fact_type": "attribute",
"fact_key": "performance.time_charging_below_range", "payload": {"value": 5, "unit": "HUR"}}, {"fact_type":
"attribute", "fact_key": "performance.deep_discharges", "payload": {"value": 24}}, {"fact_type": "attribute",
"fact_key": "performance.overcharges", "payload": {"value": 24}}, {"fact_type": "attribute", "fact_key":
"performance.accidents", "payload": {"value": "accidents"}}, {"fact_type": "material", "fact_key": "cobalt", "payload"
: {"name": "cobalt", "mass": 12.4, "unit": "KGM", "is_critical": true}}, {"fact_type": "material", "fact_key":
"graphite", "payload": {"name": "graphite", "mass": 60.1, "unit": "KGM", "is_critical": true}}, {"fact_type":
"material", "fact_key": "aluminium", "payload": {"name": "aluminium", "mass": 80.2, "unit": "KGM", "is_critical":
false}}, {"fact_type": "carbon_footprint", "fact_key": "raw_material", "payload": {"stage": "raw_material", "value":
40.1, "unit": "kgCO2e/kWh"}}, {"fact_type": "carbon_footprint", "fact_key": "production", "payload": {"stage":
"production", "value": 18.2, "unit": "kgCO2e/kWh"}}, {"fact_type": "carbon_footprint", "fact_key": "distribution",
"payload": {"stage": "distribution", "value": 1.5, "unit": "kgCO2e/kWh"}}, {"fact_type": "carbon_footprint",
"fact_key": "end_of_life", "payload": {"stage": "end_of_life", "value": 1.2, "unit": "kgCO2e/kWh"}}, {"fact_type":
"due_diligence", "fact_key": "report 2026", "payload": {"title": "report 2026", "url":
"https://example.com/due-diligence"}}]}, {"name": "an lmt battery", "category": "lmt", "on": "2034-01-01",
"attributes": {"carbon_footprint.total": 61, "materials.total_mass": 152.7}, "facts": [{"fact_type": "attribute",
"fact_key": "general.product_identifier", "payload": {"value": "product identifier"}}, {"fact_type": "attribute",
"fact_key": "general.battery_passport_identifier", "payload": {"value": "battery passport identifier"}}, {"fact_type"
: "attribute", "fact_key": "general.model_identifier", "payload": {"value": "model identifier"}}, {"fact_type":
"attribute", "fact_key": "general.battery_category", "payload": {"value": "lmt"}}, {"fact_type": "attribute",
"fact_key": "general.manufacturer_name", "payload": {"value": "manufacturer name"}}, {"fact_type": "attribute",
"fact_key": "general.manufacturer_identifier", "payload": {"value": "manufacturer identifier"}}, {"fact_type":
"attribute", "fact_key": "general.manufacturer_address", "payload": {"value": "manufacturer address"}}, {"fact_type":
"attribute", "fact_key": "general.operator_identifier", "payload": {"value": "operator identifier"}}, {"fact_type":
"attribute", "fact_key": "general.manufacturing_place", "payload": {"value": "manufacturing place"}}, {"fact_type":
"attribute", "fact_key": "general.manufacturing_date", "payload": {"value": "2027-01-15"}}, {"fact_type": "attribute"
, "fact_key": "general.putting_into_service", "payload": {"value": "2027-03-01"}}, {"fact_type": "attribute",
"fact_key": "general.battery_mass", "payload": {"value": 450, "unit": "KGM"}}, {"fact_type": "attribute", "fact_key":
"general.battery_status", "payload": {"value": "original"}}, {"fact_type": "attribute", "fact_key":
"general.warranty_period", "payload": {"value": 24, "unit": "MON"}}, {"fact_type": "attribute", "fact_key":
"labels.separate_collection", "payload": {"value": "https://example.com/labels/separate-collection"}}, {"fact_type":
"attribute", "fact_key": "labels.contains_cadmium", "payload": {"value": false}}, {"fact_type": "attribute",
"fact_key": "labels.contains_lead", "payload": {"value": false}}, {"fact_type": "attribute", "fact_key":
"labels.meaning", "payload": {"value": "https://example.com/labels/meaning"}}, {"fact_type": "attribute", "fact_key":
"labels.carbon_footprint_label", "payload": {"value": "https://example.com/labels/carbon-footprint-label"}}, {
"fact_type": "attribute", "fact_key": "labels.declaration_of_conformity", "payload": {"value":
"https://example.com/labels/declaration-of-conformity"}}, {"fact_type": "attribute", "fact_key":
"labels.declaration_identifier", "payload": {"value": "declaration identifier"}}, {"fact_type": "attribute",
"fact_key": "labels.test_reports", "payload": {"value": "https://example.com/labels/test-reports"}}, {"fact_type":
"attribute", "fact_key": "carbon_footprint.performance_class", "payload": {"value": "A"}}, {"fact_type": "attribute",
"fact_key": "carbon_footprint.study", "payload": {"value": "https://example.com/carbon-footprint/study"}}, {
"fact_type": "attribute", "fact_key": "carbon_footprint.absolute", "payload": {"value": 4575, "unit": "kgCO2e"}}, {
"fact_type": "attribute", "fact_key": "carbon_footprint.primary_data_share", "payload": {"value": 5, "unit": "P1"}}, {
"fact_type": "attribute", "fact_key": "due_diligence.report", "payload": {"value":
"https://example.com/due-diligence/report"}}, {"fact_type": "attribute", "fact_key":
"due_diligence.third_party_assurances", "payload": {"value":
"https://example.com/due-diligence/third-party-assurances"}}, {"fact_type": "attribute", "fact_key":
"due_diligence.supply_chain_index", "payload": {"value": 5, "unit": "P1"}}, {"fact_type": "attribute", "fact_key":
"materials.chemistry", "payload": {"value": "NMC"}}, {"fact_type": "attribute", "fact_key":
"materials.critical_raw_materials", "payload": {"value": ["cobalt", "lithium", "nickel", "natural graphite"]}}, {
"fact_type": "attribute", "fact_key": "materials.hazardous_substances", "payload": {"value": ["LiPF6"]}}, {"fact_type"
: "attribute", "fact_key": "materials.impact_of_substances", "payload": {"value":
"https://example.com/materials/impact-of-substances"}}, {"fact_type": "attribute", "fact_key": "materials.cathode",
"payload": {"value": ["nickel", "manganese", "cobalt"]}}, {"fact_type": "attribute", "fact_key": "materials.anode",
"payload": {"value": ["graphite"]}}, {"fact_type": "attribute", "fact_key": "materials.electrolyte", "payload": {
"value": ["LiPF6"]}}, {"fact_type": "attribute", "fact_key": "circularity.pre_consumer_nickel", "payload": {"value": 5
, "unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.post_consumer_nickel", "payload": {"value": 5,
"unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.pre_consumer_cobalt", "payload": {"value": 5,
"unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.post_consumer_cobalt", "payload": {"value": 5,
"unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.pre_consumer_lithium", "payload": {"value": 5,
"unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.post_consumer_lithium", "payload": {"value": 5,
"unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.pre_consumer_lead", "payload": {"value": 5, "unit"
: "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.post_consumer_lead", "payload": {"value": 5, "unit":
"P1"}}, {"fact_type": "attribute", "fact_key": "circularity.renewable_content", "payload": {"value": 5, "unit": "P1"}}
, {"fact_type": "attribute", "fact_key": "circularity.dismantling_manual", "payload": {"value":
"https://example.com/circularity/dismantling-manual"}}, {"fact_type": "attribute", "fact_key":
"circularity.part_numbers", "payload": {"value": ["MOD-100", "BMS-7"]}}, {"fact_type": "attribute", "fact_key":
"circularity.spare_part_suppliers", "payload": {"value": "spare part suppliers"}}, {"fact_type": "attribute",
"fact_key": "circularity.safety_measures", "payload": {"value": "https://example.com/circularity/safety-measures"}}, {
"fact_type": "attribute", "fact_key": "circularity.extinguishing_agents", "payload": {"value": ["water"]}}, {
"fact_type": "attribute", "fact_key": "circularity.waste_prevention", "payload": {"value":
"https://example.com/circularity/waste-prevention"}}, {"fact_type": "attribute", "fact_key":
"circularity.separate_collection", "payload": {"value": "https://example.com/circularity/separate-collection"}}, {
"fact_type": "attribute", "fact_key": "circularity.collection_points", "payload": {"value":
"https://example.com/circularity/collection-points"}}, {"fact_type": "attribute", "fact_key":
"performance.rated_capacity", "payload": {"value": 200, "unit": "AMH"}}, {"fact_type": "attribute", "fact_key":
"performance.remaining_capacity", "payload": {"value": 190, "unit": "AMH"}}, {"fact_type": "attribute", "fact_key":
"performance.capacity_fade", "payload": {"value": 5, "unit": "P1"}}, {"fact_type": "attribute", "fact_key":
"performance.remaining_usable_energy", "payload": {"value": 71.5, "unit": "KWH"}}, {"fact_type": "attribute",
"fact_key": "performance.state_of_charge", "payload": {"value": 87, "unit": "P1"}}, {"fact_type": "attribute",
"fact_key": "performance.minimum_voltage", "payload": {"value": 280, "unit": "VLT"}}, {"fact_type": "attribute",
"fact_key": "performance.nominal_voltage", "payload": {"value": 400, "unit": "VLT"}}, {"fact_type": "attribute",
"fact_key": "performance.maximum_voltage", "payload": {"value": 450, "unit": "VLT"}}, {"fact_type": "attribute",
"fact_key": "performance.original_power_capability", "payload": {"value": 150000, "unit": "WTT"}}, {"fact_type":
"attribute", "fact_key": "performance.remaining_power_capability", "payload": {"value": 145000, "unit": "WTT"}}, {
"fact_type": "attribute", "fact_key": "performance.power_fade", "payload": {"value": 5, "unit": "P1"}}, {"fact_type":
"attribute", "fact_key": "performance.maximum_permitted_power", "payload": {"value": 160000, "unit": "WTT"}}, {
"fact_type": "attribute", "fact_key": "performance.power_to_energy_ratio", "payload": {"value": 2.1}}, {"fact_type":
"attribute", "fact_key": "performance.initial_round_trip_efficiency", "payload": {"value": 95, "unit": "P1"}}, {
"fact_type": "attribute", "fact_key": "performance.round_trip_efficiency_at_half_life", "payload": {"value": 5, "unit"
: "P1"}}, {"fact_type": "attribute", "fact_key": "performance.remaining_round_trip_efficiency", "payload": {"value":
93.5, "unit": "P1"}}, {"fact_type": "attribute", "fact_key": "performance.initial_self_discharge", "payload": {"value"
: 5, "unit": "P1"}}, {"fact_type": "attribute", "fact_key": "performance.current_self_discharge", "payload": {"value"
: 5, "unit": "P1"}}, {"fact_type": "attribute", "fact_key": "performance.initial_cell_resistance", "payload": {"value"
: 0.001, "unit": "OHM"}}, {"fact_type": "attribute", "fact_key": "performance.initial_pack_resistance", "payload": {
"value": 0.05, "unit": "OHM"}}, {"fact_type": "attribute", "fact_key": "performance.current_pack_resistance",
"payload": {"value": 0.055, "unit": "OHM"}}, {"fact_type": "attribute", "fact_key": "performance.resistance_increase"
, "payload": {"value": 10, "unit": "P1"}}, {"fact_type": "attribute", "fact_key": "performance.expected_cycles",
"payload": {"value": 2000}}, {"fact_type": "attribute", "fact_key": "performance.full_cycles", "payload": {"value":
120}}, {"fact_type": "attribute", "fact_key": "performance.cycle_life_reference_test", "payload": {"value":
"cycle life reference test"}}, {"fact_type": "attribute", "fact_key": "performance.cycle_life_c_rate", "payload": {
"value": 0.5}}, {"fact_type": "attribute", "fact_key": "performance.energy_throughput", "payload": {"value": 8400,
"unit": "KWH"}}, {"fact_type": "attribute", "fact_key": "performance.capacity_throughput", "payload": {"value": 24000
, "unit": "AMH"}}, {"fact_type": "attribute", "fact_key": "performance.expected_lifetime", "payload": {"value": 12,
"unit": "ANN"}}, {"fact_type": "attribute", "fact_key": "performance.lower_temperature", "payload": {"value": -20,
"unit": "CEL"}}, {"fact_type": "attribute", "fact_key": "performance.upper_temperature", "payload": {"value": 60,
"unit": "CEL"}}, {"fact_type": "attribute", "fact_key": "performance.time_above_range", "payload": {"value": 5, "unit"
: "HUR"}}, {"fact_type": "attribute", "fact_key": "performance.time_below_range", "payload": {"value": 5, "unit":
"HUR"}}, {"fact_type": "attribute", "fact_key": "performance.time_charging_above_range", "payload": {"value": 5,
"unit": "HUR"}}, {"fact_type": "attribute", "fact_key": "performance.time_charging_below_range", "payload": {"value":
5, "unit": "HUR"}}, {"fact_type": "attribute", "fact_key": "performance.deep_discharges", "payload": {"value": 24}}, {
"fact_type": "attribute", "fact_key": "performance.overcharges", "payload": {"value": 24}}, {"fact_type": "attribute"
, "fact_key": "performance.accidents", "payload": {"value": "accidents"}}, {"fact_type": "material", "fact_key":
"cobalt", "payload": {"name": "cobalt", "mass": 12.4, "unit": "KGM", "is_critical": true}}, {"fact_type": "material",
"fact_key": "graphite", "payload": {"name": "graphite", "mass": 60.1, "unit": "KGM", "is_critical": true}}, {
"fact_type": "material", "fact_key": "aluminium", "payload": {"name": "aluminium", "mass": 80.2, "unit": "KGM",
"is_critical": false}}, {"fact_type": "carbon_footprint", "fact_key": "raw_material", "payload": {"stage":
"raw_material", "value": 40.1, "unit": "kgCO2e/kWh"}}, {"fact_type": "carbon_footprint", "fact_key": "production",
"payload": {"stage": "production", "value": 18.2, "unit": "kgCO2e/kWh"}}, {"fact_type": "carbon_footprint", "fact_key"
: "distribution", "payload": {"stage": "distribution", "value": 1.5, "unit": "kgCO2e/kWh"}}, {"fact_type":
"carbon_footprint", "fact_key": "end_of_life", "payload": {"stage": "end_of_life", "value": 1.2, "unit": "kgCO2e/kWh"}
}, {"fact_type": "due_diligence", "fact_key": "report 2026", "payload": {"title": "report 2026", "url":
"https://example.com/due-diligence"}}]}, {"name": "an industrial battery", "category": "industrial", "on":
"2034-01-01", "attributes": {"carbon_footprint.total": 61, "materials.total_mass": 152.7}, "facts": [{"fact_type":
"attribute", "fact_key": "general.product_identifier", "payload": {"value": "product identifier"}}, {"fact_type":
"attribute", "fact_key": "general.battery_passport_identifier", "payload": {"value": "battery passport identifier"}},
{"fact_type": "attribute", "fact_key": "general.model_identifier", "payload": {"value": "model identifier"}}, {
"fact_type": "attribute", "fact_key": "general.battery_category", "payload": {"value": "industrial"}}, {"fact_type":
"attribute", "fact_key": "general.manufacturer_name", "payload": {"value": "manufacturer name"}}, {"fact_type":
"attribute", "fact_key": "general.manufacturer_identifier", "payload": {"value": "manufacturer identifier"}}, {
"fact_type": "attribute", "fact_key": "general.manufacturer_address", "payload": {"value": "manufacturer address"}}, {
"fact_type": "attribute", "fact_key": "general.operator_identifier", "payload": {"value": "operator identifier"}}, {
"fact_type": "attribute", "fact_key": "general.manufacturing_place", "payload": {"value": "manufacturing place"}}, {
"fact_type": "attribute", "fact_key": "general.manufacturing_date", "payload": {"value": "2027-01-15"}}, {"fact_type"
: "attribute", "fact_key": "general.putting_into_service", "payload": {"value": "2027-03-01"}}, {"fact_type":
"attribute", "fact_key": "general.battery_mass", "payload": {"value": 450, "unit": "KGM"}}, {"fact_type": "attribute"
, "fact_key": "general.battery_status", "payload": {"value": "original"}}, {"fact_type": "attribute", "fact_key":
"general.warranty_period", "payload": {"value": 24, "unit": "MON"}}, {"fact_type": "attribute", "fact_key":
"labels.separate_collection", "payload": {"value": "https://example.com/labels/separate-collection"}}, {"fact_type":
"attribute", "fact_key": "labels.contains_cadmium", "payload": {"value": false}}, {"fact_type": "attribute",
"fact_key": "labels.contains_lead", "payload": {"value": false}}, {"fact_type": "attribute", "fact_key":
"labels.meaning", "payload": {"value": "https://example.com/labels/meaning"}}, {"fact_type": "attribute", "fact_key":
"labels.carbon_footprint_label", "payload": {"value": "https://example.com/labels/carbon-footprint-label"}}, {
"fact_type": "attribute", "fact_key": "labels.declaration_of_conformity", "payload": {"value":
"https://example.com/labels/declaration-of-conformity"}}, {"fact_type": "attribute", "fact_key":
"labels.declaration_identifier", "payload": {"value": "declaration identifier"}}, {"fact_type": "attribute",
"fact_key": "labels.test_reports", "payload": {"value": "https://example.com/labels/test-reports"}}, {"fact_type":
"attribute", "fact_key": "carbon_footprint.performance_class", "payload": {"value": "A"}}, {"fact_type": "attribute",
"fact_key": "carbon_footprint.study", "payload": {"value": "https://example.com/carbon-footprint/study"}}, {
"fact_type": "attribute", "fact_key": "carbon_footprint.absolute", "payload": {"value": 4575, "unit": "kgCO2e"}}, {
"fact_type": "attribute", "fact_key": "carbon_footprint.primary_data_share", "payload": {"value": 5, "unit": "P1"}}, {
"fact_type": "attribute", "fact_key": "due_diligence.report", "payload": {"value":
"https://example.com/due-diligence/report"}}, {"fact_type": "attribute", "fact_key":
"due_diligence.third_party_assurances", "payload": {"value":
"https://example.com/due-diligence/third-party-assurances"}}, {"fact_type": "attribute", "fact_key":
"due_diligence.supply_chain_index", "payload": {"value": 5, "unit": "P1"}}, {"fact_type": "attribute", "fact_key":
"materials.chemistry", "payload": {"value": "NMC"}}, {"fact_type": "attribute", "fact_key":
"materials.critical_raw_materials", "payload": {"value": ["cobalt", "lithium", "nickel", "natural graphite"]}}, {
"fact_type": "attribute", "fact_key": "materials.hazardous_substances", "payload": {"value": ["LiPF6"]}}, {"fact_type"
: "attribute", "fact_key": "materials.impact_of_substances", "payload": {"value":
"https://example.com/materials/impact-of-substances"}}, {"fact_type": "attribute", "fact_key": "materials.cathode",
"payload": {"value": ["nickel", "manganese", "cobalt"]}}, {"fact_type": "attribute", "fact_key": "materials.anode",
"payload": {"value": ["graphite"]}}, {"fact_type": "attribute", "fact_key": "materials.electrolyte", "payload": {
"value": ["LiPF6"]}}, {"fact_type": "attribute", "fact_key": "circularity.pre_consumer_nickel", "payload": {"value": 5
, "unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.post_consumer_nickel", "payload": {"value": 5,
"unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.pre_consumer_cobalt", "payload": {"value": 5,
"unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.post_consumer_cobalt", "payload": {"value": 5,
"unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.pre_consumer_lithium", "payload": {"value": 5,
"unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.post_consumer_lithium", "payload": {"value": 5,
"unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.pre_consumer_lead", "payload": {"value": 5, "unit"
: "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.post_consumer_lead", "payload": {"value": 5, "unit":
"P1"}}, {"fact_type": "attribute", "fact_key": "circularity.renewable_content", "payload": {"value": 5, "unit": "P1"}}
, {"fact_type": "attribute", "fact_key": "circularity.dismantling_manual", "payload": {"value":
"https://example.com/circularity/dismantling-manual"}}, {"fact_type": "attribute", "fact_key":
"circularity.part_numbers", "payload": {"value": ["MOD-100", "BMS-7"]}}, {"fact_type": "attribute", "fact_key":
"circularity.spare_part_suppliers", "payload": {"value": "spare part suppliers"}}, {"fact_type": "attribute",
"fact_key": "circularity.safety_measures", "payload": {"value": "https://example.com/circularity/safety-measures"}}, {
"fact_type": "attribute", "fact_key": "circularity.extinguishing_agents", "payload": {"value": ["water"]}}, {
"fact_type": "attribute", "fact_key": "circularity.waste_prevention", "payload": {"value":
"https://example.com/circularity/waste-prevention"}}, {"fact_type": "attribute", "fact_key":
"circularity.separate_collection", "payload": {"value": "https://example.com/circularity/separate-collection"}}, {
"fact_type": "attribute", "fact_key": "circularity.collection_points", "payload": {"value":
"https://example.com/circularity/collection-points"}}, {"fact_type": "attribute", "fact_key":
"performance.rated_capacity", "payload": {"value": 200, "unit": "AMH"}}, {"fact_type": "attribute", "fact_key":
"performance.remaining_capacity", "payload": {"value": 190, "unit": "AMH"}}, {"fact_type": "attribute", "fact_key":
"performance.capacity_fade", "payload": {"value": 5, "unit": "P1"}}, {"fact_type": "attribute", "fact_key":
"performance.remaining_usable_energy", "payload": {"value": 71.5, "unit": "KWH"}}, {"fact_type": "attribute",
"fact_key": "performance.state_of_charge", "payload": {"value": 87, "unit": "P1"}}, {"fact_type": "attribute",
"fact_key": "performance.minimum_voltage", "payload": {"value": 280, "unit": "VLT"}}, {"fact_type": "attribute",
"fact_key": "performance.nominal_voltage", "payload": {"value": 400, "unit": "VLT"}}, {"fact_type": "attribute",
"fact_key": "performance.maximum_voltage", "payload": {"value": 450, "unit": "VLT"}}, {"fact_type": "attribute",
"fact_key": "performance.original_power_capability", "payload": {"value": 150000, "unit": "WTT"}}, {"fact_type":
"attribute", "fact_key": "performance.remaining_power_capability", "payload": {"value": 145000, "unit": "WTT"}}, {
"fact_type": "attribute", "fact_key": "performance.power_fade", "payload": {"value": 5, "unit": "P1"}}, {"fact_type":
"attribute", "fact_key": "performance.maximum_permitted_power", "payload": {"value": 160000, "unit": "WTT"}}, {
"fact_type": "attribute", "fact_key": "performance.power_to_energy_ratio", "payload": {"value": 2.1}}, {"fact_type":
"attribute", "fact_key": "performance.initial_round_trip_efficiency", "payload": {"value": 95, "unit": "P1"}}, {
"fact_type": "attribute", "fact_key": "performance.round_trip_efficiency_at_half_life", "payload": {"value": 5, "unit"
: "P1"}}, {"fact_type": "attribute", "fact_key": "performance.remaining_round_trip_efficiency", "payload": {"value":
93.5, "unit": "P1"}}, {"fact_type": "attribute", "fact_key": "performance.initial_self_discharge", "payload": {"value"
: 5, "unit": "P1"}}, {"fact_type": "attribute", "fact_key": "performance.current_self_discharge", "payload": {"value"
: 5, "unit": "P1"}}, {"fact_type": "attribute", "fact_key": "performance.initial_cell_resistance", "payload": {"value"
: 0.001, "unit": "OHM"}}, {"fact_type": "attribute", "fact_key": "performance.initial_pack_resistance", "payload": {
"value": 0.05, "unit": "OHM"}}, {"fact_type": "attribute", "fact_key": "performance.current_pack_resistance",
"payload": {"value": 0.055, "unit": "OHM"}}, {"fact_type": "attribute", "fact_key": "performance.resistance_increase"
, "payload": {"value": 10, "unit": "P1"}}, {"fact_type": "attribute", "fact_key": "performance.expected_cycles",
"payload": {"value": 2000}}, {"fact_type": "attribute", "fact_key": "performance.full_cycles", "payload": {"value":
120}}, {"fact_type": "attribute", "fact_key": "performance.cycle_life_reference_test", "payload": {"value":
"cycle life reference test"}}, {"fact_type": "attribute", "fact_key": "performance.cycle_life_c_rate", "payload": {
"value": 0.5}}, {"fact_type": "attribute", "fact_key": "performance.energy_throughput", "payload": {"value": 8400,
"unit": "KWH"}}, {"fact_type": "attribute", "fact_key": "performance.capacity_throughput", "payload": {"value": 24000
, "unit": "AMH"}}, {"fact_type": "attribute", "fact_key": "performance.expected_lifetime", "payload": {"value": 12,
"unit": "ANN"}}, {"fact_type": "attribute", "fact_key": "performance.lower_temperature", "payload": {"value": -20,
"unit": "CEL"}}, {"fact_type": "attribute", "fact_key": "performance.upper_temperature", "payload": {"value": 60,
"unit": "CEL"}}, {"fact_type": "attribute", "fact_key": "performance.time_above_range", "payload": {"value": 5, "unit"
: "HUR"}}, {"fact_type": "attribute", "fact_key": "performance.time_below_range", "payload": {"value": 5, "unit":
"HUR"}}, {"fact_type": "attribute", "fact_key": "performance.time_charging_above_range", "payload": {"value": 5,
"unit": "HUR"}}, {"fact_type": "attribute", "fact_key": "performance.time_charging_below_range", "payload": {"value":
5, "unit": "HUR"}}, {"fact_type": "attribute", "fact_key": "performance.deep_discharges", "payload": {"value": 24}}, {
"fact_type": "attribute", "fact_key": "performance.overcharges", "payload": {"value": 24}}, {"fact_type": "attribute"
, "fact_key": "performance.accidents", "payload": {"value": "accidents"}}, {"fact_type": "material", "fact_key":
"cobalt", "payload": {"name": "cobalt", "mass": 12.4, "unit": "KGM", "is_critical": true}}, {"fact_type": "material",
"fact_key": "graphite", "payload": {"name": "graphite", "mass": 60.1, "unit": "KGM", "is_critical": true}}, {
"fact_type": "material", "fact_key": "aluminium", "payload": {"name": "aluminium", "mass": 80.2, "unit": "KGM",
"is_critical": false}}, {"fact_type": "carbon_footprint", "fact_key": "raw_material", "payload": {"stage":
"raw_material", "value": 40.1, "unit": "kgCO2e/kWh"}}, {"fact_type": "carbon_footprint", "fact_key": "production",
"payload": {"stage": "production", "value": 18.2, "unit": "kgCO2e/kWh"}}, {"fact_type": "carbon_footprint", "fact_key"
: "distribution", "payload": {"stage": "distribution", "value": 1.5, "unit": "kgCO2e/kWh"}}, {"fact_type":
"carbon_footprint", "fact_key": "end_of_life", "payload": {"stage": "end_of_life", "value": 1.2, "unit": "kgCO2e/kWh"}
}, {"fact_type": "due_diligence", "fact_key": "report 2026", "payload": {"title": "report 2026", "url":
"https://example.com/due-diligence"}}]}, {"name": "a stationary battery", "category": "stationary", "on": "2034-01-01"
, "attributes": {"carbon_footprint.total": 61, "materials.total_mass": 152.7}, "facts": [{"fact_type": "attribute",
"fact_key": "general.product_identifier", "payload": {"value": "product identifier"}}, {"fact_type": "attribute",
"fact_key": "general.battery_passport_identifier", "payload": {"value": "battery passport identifier"}}, {"fact_type"
: "attribute", "fact_key": "general.model_identifier", "payload": {"value": "model identifier"}}, {"fact_type":
"attribute", "fact_key": "general.battery_category", "payload": {"value": "stationary"}}, {"fact_type": "attribute",
"fact_key": "general.manufacturer_name", "payload": {"value": "manufacturer name"}}, {"fact_type": "attribute",
"fact_key": "general.manufacturer_identifier", "payload": {"value": "manufacturer identifier"}}, {"fact_type":
"attribute", "fact_key": "general.manufacturer_address", "payload": {"value": "manufacturer address"}}, {"fact_type":
"attribute", "fact_key": "general.operator_identifier", "payload": {"value": "operator identifier"}}, {"fact_type":
"attribute", "fact_key": "general.manufacturing_place", "payload": {"value": "manufacturing place"}}, {"fact_type":
"attribute", "fact_key": "general.manufacturing_date", "payload": {"value": "2027-01-15"}}, {"fact_type": "attribute"
, "fact_key": "general.putting_into_service", "payload": {"value": "2027-03-01"}}, {"fact_type": "attribute",
"fact_key": "general.battery_mass", "payload": {"value": 450, "unit": "KGM"}}, {"fact_type": "attribute", "fact_key":
"general.battery_status", "payload": {"value": "original"}}, {"fact_type": "attribute", "fact_key":
"general.warranty_period", "payload": {"value": 24, "unit": "MON"}}, {"fact_type": "attribute", "fact_key":
"labels.separate_collection", "payload": {"value": "https://example.com/labels/separate-collection"}}, {"fact_type":
"attribute", "fact_key": "labels.contains_cadmium", "payload": {"value": false}}, {"fact_type": "attribute",
"fact_key": "labels.contains_lead", "payload": {"value": false}}, {"fact_type": "attribute", "fact_key":
"labels.meaning", "payload": {"value": "https://example.com/labels/meaning"}}, {"fact_type": "attribute", "fact_key":
"labels.carbon_footprint_label", "payload": {"value": "https://example.com/labels/carbon-footprint-label"}}, {
"fact_type": "attribute", "fact_key": "labels.declaration_of_conformity", "payload": {"value":
"https://example.com/labels/declaration-of-conformity"}}, {"fact_type": "attribute", "fact_key":
"labels.declaration_identifier", "payload": {"value": "declaration identifier"}}, {"fact_type": "attribute",
"fact_key": "labels.test_reports", "payload": {"value": "https://example.com/labels/test-reports"}}, {"fact_type":
"attribute", "fact_key": "carbon_footprint.performance_class", "payload": {"value": "A"}}, {"fact_type": "attribute",
"fact_key": "carbon_footprint.study", "payload": {"value": "https://example.com/carbon-footprint/study"}}, {
"fact_type": "attribute", "fact_key": "carbon_footprint.absolute", "payload": {"value": 4575, "unit": "kgCO2e"}}, {
"fact_type": "attribute", "fact_key": "carbon_footprint.primary_data_share", "payload": {"value": 5, "unit": "P1"}}, {
"fact_type": "attribute", "fact_key": "due_diligence.report", "payload": {"value":
"https://example.com/due-diligence/report"}}, {"fact_type": "attribute", "fact_key":
"due_diligence.third_party_assurances", "payload": {"value":
"https://example.com/due-diligence/third-party-assurances"}}, {"fact_type": "attribute", "fact_key":
"due_diligence.supply_chain_index", "payload": {"value": 5, "unit": "P1"}}, {"fact_type": "attribute", "fact_key":
"materials.chemistry", "payload": {"value": "NMC"}}, {"fact_type": "attribute", "fact_key":
"materials.critical_raw_materials", "payload": {"value": ["cobalt", "lithium", "nickel", "natural graphite"]}}, {
"fact_type": "attribute", "fact_key": "materials.hazardous_substances", "payload": {"value": ["LiPF6"]}}, {"fact_type"
: "attribute", "fact_key": "materials.impact_of_substances", "payload": {"value":
"https://example.com/materials/impact-of-substances"}}, {"fact_type": "attribute", "fact_key": "materials.cathode",
"payload": {"value": ["nickel", "manganese", "cobalt"]}}, {"fact_type": "attribute", "fact_key": "materials.anode",
"payload": {"value": ["graphite"]}}, {"fact_type": "attribute", "fact_key": "materials.electrolyte", "payload": {
"value": ["LiPF6"]}}, {"fact_type": "attribute", "fact_key": "circularity.pre_consumer_nickel", "payload": {"value": 5
, "unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.post_consumer_nickel", "payload": {"value": 5,
"unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.pre_consumer_cobalt", "payload": {"value": 5,
"unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.post_consumer_cobalt", "payload": {"value": 5,
"unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.pre_consumer_lithium", "payload": {"value": 5,
"unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.post_consumer_lithium", "payload": {"value": 5,
"unit": "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.pre_consumer_lead", "payload": {"value": 5, "unit"
: "P1"}}, {"fact_type": "attribute", "fact_key": "circularity.post_consumer_lead", "payload": {"value": 5, "unit":
"P1"}}, {"fact_type": "attribute", "fact_key": "circularity.renewable_content", "payload": {"value": 5, "unit": "P1"}}
, {"fact_type": "attribute", "fact_key": "circularity.dismantling_manual", "payload": {"value":
"https://example.com/circularity/dismantling-manual"}}, {"fact_type": "attribute", "fact_key":
"circularity.part_numbers", "payload": {"value": ["MOD-100", "BMS-7"]}}, {"fact_type": "attribute", "fact_key":
"circularity.spare_part_suppliers", "payload": {"value": "spare part suppliers"}}, {"fact_type": "attribute",
"fact_key": "circularity.safety_measures", "payload": {"value": "https://example.com/circularity/safety-measures"}}, {
"fact_type": "attribute", "fact_key": "circularity.extinguishing_agents", "payload": {"value": ["water"]}}, {
"fact_type": "attribute", "fact_key": "circularity.waste_prevention", "payload": {"value":
"https://example.com/circularity/waste-prevention"}}, {"fact_type": "attribute", "fact_key":
"circularity.separate_collection", "payload": {"value": "https://example.com/circularity/separate-collection"}}, {
"fact_type": "attribute", "fact_key": "circularity.collection_points", "payload": {"value":
"https://example.com/circularity/collection-points"}}, {"fact_type": "attribute", "fact_key":
"performance.rated_capacity", "payload": {"value": 200, "unit": "AMH"}}, {"fact_type": "attribute", "fact_key":
"performance.remaining_capacity", "payload": {"value": 190, "unit": "AMH"}}, {"fact_type": "attribute", "fact_key":
"performance.capacity_fade", "payload": {"value": 5, "unit": "P1"}}, {"fact_type": "attribute", "fact_key":
"performance.remaining_usable_energy", "payload": {"value": 71.5, "unit": "KWH"}}, {"fact_type": "attribute",
"fact_key": "performance.state_of_charge", "payload": {"value": 87, "unit": "P1"}}, {"fact_type": "attribute",
"fact_key": "performance.minimum_voltage", "payload": {"value": 280, "unit": "VLT"}}, {"fact_type": "attribute",
"fact_key": "performance.nominal_voltage", "payload": {"value": 400, "unit": "VLT"}}, {"fact_type": "attribute",
"fact_key": "performance.maximum_voltage", "payload": {"value": 450, "unit": "VLT"}}, {"fact_type": "attribute",
"fact_key": "performance.original_power_capability", "payload": {"value": 150000, "unit": "WTT"}}, {"fact_type":
"attribute", "fact_key": "performance.remaining_power_capability", "payload": {"value": 145000, "unit": "WTT"}}, {
"fact_type": "attribute", "fact_key": "performance.power_fade", "payload": {"value": 5, "unit": "P1"}}, {"fact_type":
"attribute", "fact_key": "performance.maximum_permitted_power", "payload": {"value": 160000, "unit": "WTT"}}, {
"fact_type": "attribute", "fact_key": "performance.power_to_energy_ratio", "payload": {"value": 2.1}}, {"fact_type":
"attribute", "fact_key": "performance.initial_round_trip_efficiency", "payload": {"value": 95, "unit": "P1"}}, {
"fact_type": "attribute", "fact_key": "performance.round_trip_efficiency_at_half_life", "payload": {"value": 5, "unit"
: "P1"}}, {"fact_type": "attribute", "fact_key": "performance.remaining_round_trip_efficiency", "payload": {"value":
93.5, "unit": "P1"}}, {"fact_type": "attribute", "fact_key": "performance.initial_self_discharge", "payload": {"value"
: 5, "unit": "P1"}}, {"fact_type": "attribute", "fact_key": "performance.current_self_discharge", "payload": {"value"
: 5, "unit": "P1"}}, {"fact_type": "attribute", "fact_key": "performance.initial_cell_resistance", "payload": {"value"
: 0.001, "unit": "OHM"}}, {"fact_type": "attribute", "fact_key": "performance.initial_pack_resistance", "payload": {
"value": 0.05, "unit": "OHM"}}, {"fact_type": "attribute", "fact_key": "performance.current_pack_resistance",
"payload": {"value": 0.055, "unit": "OHM"}}, {"fact_type": "attribute", "fact_key": "performance.resistance_increase"
, "payload": {"value": 10, "unit": "P1"}}, {"fact_type": "attribute", "fact_key": "performance.expected_cycles",
"payload": {"value": 2000}}, {"fact_type": "attribute", "fact_key": "performance.full_cycles", "payload": {"value":
120}}, {"fact_type": "attribute", "fact_key": "performance.cycle_life_reference_test", "payload": {"value":
"cycle life reference test"}}, {"fact_type": "attribute", "fact_key": "performance.cycle_life_c_rate", "payload": {
"value": 0.5}}, {"fact_type": "attribute", "fact_key": "performance.energy_throughput", "payload": {"value": 8400,
"unit": "KWH"}}, {"fact_type": "attribute", "fact_key": "performance.capacity_throughput", "payload": {"value": 24000
, "unit": "AMH"}}, {"fact_type": "attribute", "fact_key": "performance.expected_lifetime", "payload": {"value": 12,
"unit": "ANN"}}, {"fact_type": "attribute", "fact_key": "performance.lower_temperature", "payload": {"value": -20,
"unit": "CEL"}}, {"fact_type": "attribute", "fact_key": "performance.upper_temperature", "payload": {"value": 60,
"unit": "CEL"}}, {"fact_type": "attribute", "fact_key": "performance.time_above_range", "payload": {"value": 5, "unit"
: "HUR"}}, {"fact_type": "attribute", "fact_key": "performance.time_below_range", "payload": {"value": 5, "unit":
"HUR"}}, {"fact_type": "attribute", "fact_key": "performance.time_charging_above_range", "payload": {"value": 5,
"unit": "HUR"}}, {"fact_type": "attribute", "fact_key": "performance.time_charging_below_range", "payload": {"value":
5, "unit": "HUR"}}, {"fact_type": "attribute", "fact_key": "performance.deep_discharges", "payload": {"value": 24}}, {
"fact_type": "attribute", "fact_key": "performance.overcharges", "payload": {"value": 24}}, {"fact_type": "attribute"
, "fact_key": "performance.accidents", "payload": {"value": "accidents"}}, {"fact_type": "material", "fact_key":
"cobalt", "payload": {"name": "cobalt", "mass": 12.4, "unit": "KGM", "is_critical": true}}, {"fact_type": "material",
"fact_key": "graphite", "payload": {"name": "graphite", "mass": 60.1, "unit": "KGM", "is_critical": true}}, {
"fact_type": "material", "fact_key": "aluminium", "payload": {"name": "aluminium", "mass": 80.2, "unit": "KGM",
"is_critical": false}}, {"fact_type": "carbon_footprint", "fact_key": "raw_material", "payload": {"stage":
"raw_material", "value": 40.1, "unit": "kgCO2e/kWh"}}, {"fact_type": "carbon_footprint", "fact_key": "production",
"payload": {"stage": "production", "value": 18.2, "unit": "kgCO2e/kWh"}}, {"fact_type": "carbon_footprint", "fact_key"
: "distribution", "payload": {"stage": "distribution", "value": 1.5, "unit": "kgCO2e/kWh"}}, {"fact_type":
"carbon_footprint", "fact_key": "end_of_life", "payload": {"stage": "end_of_life", "value": 1.2, "unit": "kgCO2e/kWh"}
}, {"fact_type": "due_diligence", "fact_key": "report 2026", "payload": {"title": "report 2026", "url":
"https://example.com/due-diligence"}}]}, {"name": "another category", "category": "ev", "on": "2026-01-01", "findings"
: [{"code": "CHECK_FAILED", "subject": "CATEGORY_DIFFERS"}], "facts": [{"fact_type": "attribute", "fact_key":
"general.battery_category", "payload": {"value": "lmt"}}]}, {"name": "materials too heavy", "category": "ev", "on":
"2026-01-01", "findings": [{"code": "CHECK_FAILED", "subject": "MATERIALS_HEAVIER_THAN_BATTERY"}], "facts": [{
"fact_type": "attribute", "fact_key": "general.battery_mass", "payload": {"value": 10, "unit": "KGM"}}, {"fact_type":
"material", "fact_key": "steel", "payload": {"unit": "KGM", "name": "steel", "mass": 10.5}}]}, {"name":
"materials as heavy as the battery", "category": "ev", "on": "2026-01-01", "findings": [], "facts": [{"fact_type":
"attribute", "fact_key": "general.battery_mass", "payload": {"value": 10.5, "unit": "KGM"}}, {"fact_type": "material"
, "fact_key": "steel", "payload": {"unit": "KGM", "name": "steel", "mass": 10.5}}]}, {"name":
"nominal voltage below the minimum", "category": "ev", "on": "2026-01-01", "findings": [{"code": "CHECK_FAILED",
"subject": "VOLTAGE_BELOW_MINIMUM"}], "facts": [{"fact_type": "attribute", "fact_key": "performance.minimum_voltage",
"payload": {"value": 410, "unit": "VLT"}}, {"fact_type": "attribute", "fact_key": "performance.nominal_voltage",
"payload": {"value": 400, "unit": "VLT"}}, {"fact_type": "attribute", "fact_key": "performance.maximum_voltage",
"payload": {"value": 450, "unit": "VLT"}}]}, {"name": "nominal voltage above the maximum", "category": "ev", "on":
"2026-01-01", "findings": [{"code": "CHECK_FAILED", "subject": "VOLTAGE_ABOVE_MAXIMUM"}], "facts": [{"fact_type":
"attribute", "fact_key": "performance.minimum_voltage", "payload": {"value": 300, "unit": "VLT"}}, {"fact_type":
"attribute", "fact_key": "performance.nominal_voltage", "payload": {"value": 460, "unit": "VLT"}}, {"fact_type":
"attribute", "fact_key": "performance.maximum_voltage", "payload": {"value": 450, "unit": "VLT"}}]}, {"name":
"temperatures out of order", "category": "ev", "on": "2026-01-01", "findings": [{"code": "CHECK_FAILED", "subject":
"TEMPERATURES_OUT_OF_ORDER"}], "facts": [{"fact_type": "attribute", "fact_key": "performance.lower_temperature",
"payload": {"value": 60, "unit": "CEL"}}, {"fact_type": "attribute", "fact_key": "performance.upper_temperature",
"payload": {"value": 60, "unit": "CEL"}}]}, {"name": "capacity grew", "category": "ev", "on": "2026-01-01", "findings"
: [{"code": "CHECK_FAILED", "subject": "CAPACITY_GREW"}], "facts": [{"fact_type": "attribute", "fact_key":
"performance.rated_capacity", "payload": {"value": 100, "unit": "AMH"}}, {"fact_type": "attribute", "fact_key":
"performance.remaining_capacity", "payload": {"value": 111, "unit": "AMH"}}]}, {"name": "fade differs", "category":
"ev", "on": "2026-01-01", "findings": [{"code": "CHECK_FAILED", "subject": "FADE_DIFFERS"}], "facts": [{"fact_type":
"attribute", "fact_key": "performance.rated_capacity", "payload": {"value": 100, "unit": "AMH"}}, {"fact_type":
"attribute", "fact_key": "performance.remaining_capacity", "payload": {"value": 90, "unit": "AMH"}}, {"fact_type":
"attribute", "fact_key": "performance.capacity_fade", "payload": {"value": 20, "unit": "P1"}}]}, {"name":
"energy grew", "category": "ev", "on": "2026-01-01", "findings": [{"code": "CHECK_FAILED", "subject": "ENERGY_GREW"}]
, "facts": [{"fact_type": "attribute", "fact_key": "performance.certified_usable_energy", "payload": {"value": 50,
"unit": "KWH"}}, {"fact_type": "attribute", "fact_key": "performance.remaining_usable_energy", "payload": {"value": 60
, "unit": "KWH"}}]}, {"name": "power grew", "category": "ev", "on": "2026-01-01", "findings": [{"code": "CHECK_FAILED"
, "subject": "POWER_GREW"}], "facts": [{"fact_type": "attribute", "fact_key": "performance.original_power_capability"
, "payload": {"value": 1000, "unit": "WTT"}}, {"fact_type": "attribute", "fact_key":
"performance.remaining_power_capability", "payload": {"value": 2000, "unit": "WTT"}}]}, {"name":
"critical material unnamed", "category": "ev", "on": "2026-01-01", "findings": [{"code": "CHECK_FAILED", "subject":
"CRITICAL_MATERIAL_UNNAMED"}], "facts": [{"fact_type": "attribute", "fact_key": "materials.critical_raw_materials",
"payload": {"value": []}}, {"fact_type": "material", "fact_key": "cobalt", "payload": {"unit": "KGM", "name": "cobalt"
, "mass": 1, "is_critical": true}}]}, {"name": "no critical material", "category": "ev", "on": "2026-01-01",
"findings": [], "facts": [{"fact_type": "attribute", "fact_key": "materials.critical_raw_materials", "payload": {
"value": []}}, {"fact_type": "material", "fact_key": "steel", "payload": {"unit": "KGM", "name": "steel", "mass": 1}}]
}, {"name": "service before manufacture", "category": "ev", "on": "2026-01-01", "findings": [{"code": "CHECK_FAILED",
"subject": "SERVICE_BEFORE_MANUFACTURE"}], "facts": [{"fact_type": "attribute", "fact_key":
"general.manufacturing_date", "payload": {"value": "2027-01-15"}}, {"fact_type": "attribute", "fact_key":
"general.putting_into_service", "payload": {"value": "2027-01-14"}}]}, {"name": "recycled nickel over 100", "category"
: "ev", "on": "2026-01-01", "findings": [{"code": "CHECK_FAILED", "subject": "RECYCLED_NICKEL_OVER_100"}], "facts": [{
"fact_type": "attribute", "fact_key": "circularity.pre_consumer_nickel", "payload": {"value": 60, "unit": "P1"}}, {
"fact_type": "attribute", "fact_key": "circularity.post_consumer_nickel", "payload": {"value": 50, "unit": "P1"}}]}, {
"name": "recycled cobalt over 100", "category": "ev", "on": "2026-01-01", "findings": [{"code": "CHECK_FAILED",
"subject": "RECYCLED_COBALT_OVER_100"}], "facts": [{"fact_type": "attribute", "fact_key":
"circularity.pre_consumer_cobalt", "payload": {"value": 60, "unit": "P1"}}, {"fact_type": "attribute", "fact_key":
"circularity.post_consumer_cobalt", "payload": {"value": 50, "unit": "P1"}}]}, {"name": "recycled lithium over 100",
"category": "ev", "on": "2026-01-01", "findings": [{"code": "CHECK_FAILED", "subject": "RECYCLED_LITHIUM_OVER_100"}],
"facts": [{"fact_type": "attribute", "fact_key": "circularity.pre_consumer_lithium", "payload": {"value": 60, "unit":
"P1"}}, {"fact_type": "attribute", "fact_key": "circularity.post_consumer_lithium", "payload": {"value": 50, "unit":
"P1"}}]}, {"name": "recycled lead over 100", "category": "ev", "on": "2026-01-01", "findings": [{"code":
"CHECK_FAILED", "subject": "RECYCLED_LEAD_OVER_100"}], "facts": [{"fact_type": "attribute", "fact_key":
"circularity.pre_consumer_lead", "payload": {"value": 60, "unit": "P1"}}, {"fact_type": "attribute", "fact_key":
"circularity.post_consumer_lead", "payload": {"value": 50, "unit": "P1"}}]}], "properties": [{"name":
"the footprint has stages", "check":
"on < '2027-02-18' || (category == 'lmt' && on < '2028-08-18') || carbon_footprint.stages > 0.0"}]}
  $tests$
);

insert into public.rule_tests_runs (
  id, rule_package_version_id, revision, rules_hash, seed, status, total_cases, passed_count, failed_count, mutants,
  mutants_caught
)
values (
  '6fbd4b51-647f-5c7c-a10d-395da4248401', '9ab31084-250f-5c7e-a42c-bc0bb451fea1', 1,
  '\xcfca5f6b63f66b2a5dd42167fc4d1fe92b8ea31e9262261b1ae4e2395f839a2e',
  20270218, 'passed', 695, 695, 0, 238, 238
);
