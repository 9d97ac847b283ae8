"""The local stack: embedded Postgres, the functions and a ticker in place of cron."""
