"""A stand-in for Supabase Vault."""

# What Supabase Vault shows of itself. How it encrypts is its own business: here it only turns the letters round.
VAULT = """
    create schema vault;
    create table vault.secrets (
      id uuid primary key default gen_random_uuid(), name text unique, description text not null default '', secret text
    );
    create function vault._crypto_aead_det_decrypt(
      message bytea, additional bytea, key_id bigint, context bytea = 'pgsodium', nonce bytea = null
    ) returns bytea language sql immutable as $$ select convert_to(reverse(convert_from(message, 'utf8')), 'utf8') $$;
    create view vault.decrypted_secrets as
      select id, name, description, secret,
        convert_from(vault._crypto_aead_det_decrypt(convert_to(secret, 'utf8'), ''::bytea, 0), 'utf8')
          as decrypted_secret
      from vault.secrets;
    create function vault.create_secret(
      new_secret text, new_name text = null, new_description text = '', new_key_id uuid = null
    ) returns uuid language sql security definer as $$
      insert into vault.secrets (name, description, secret)
      values (new_name, new_description, reverse(new_secret)) returning id
    $$;
    revoke all on all functions in schema vault from public;
    grant usage on schema vault to tickwork_owner;
    grant select, delete on vault.secrets to tickwork_owner;
    grant select on vault.decrypted_secrets to tickwork_owner;
    grant execute on all functions in schema vault to tickwork_owner;
"""
