-- What verbs say of a value that a constraint refuses. Constraints are named after the rule they keep.

create function tickwork.raise_broken_rule(rule text, field text)
returns void
language plpgsql
immutable
as $$
begin
  raise exception '%',
    case
      when raise_broken_rule.field <> '' then raise_broken_rule.field || ': must not be null'
      else 'a value breaks the rule: ' || replace(raise_broken_rule.rule, '_', ' ')
    end
    using errcode = 'TWARG', hint = 'Correct the value, or leave it out.';
end
$$;

comment on function tickwork.raise_broken_rule is
  'For handlers of check_violation and not_null_violation, with the name of the constraint or of the column. Raises '
  'TWARG.';
