"""Platform admins: users who may act as an admin of every tenant."""

from uuid import UUID

from psycopg.rows import DictRow

from tickwork.database.sql import Sql


class Admins:
    def __init__(self, database: Sql) -> None:
        self._database = database

    def overview(self) -> list[DictRow]:
        return self._database.rows("select * from tickwork.platform_admins order by created_at, user_id", {})

    def add(self, user_id: UUID) -> bool:
        """Returns whether the user was none before."""
        query = (
            "insert into tickwork.platform_admins (user_id) values (%(id)s) on conflict do nothing returning user_id"
        )
        return bool(self._database.rows(query, {"id": user_id}))

    def remove(self, user_id: UUID) -> bool:
        """Returns whether the user was one."""
        query = "delete from tickwork.platform_admins where user_id = %(id)s returning user_id"
        return bool(self._database.rows(query, {"id": user_id}, repeatable=False))
