/** What the Supabase client does for `.rpc()`, and no more. */
export function rpcClient(url, key, token) {
  return {
    async rpc(name, given = {}) {
      const response = await fetch(`${url}/rest/v1/rpc/${name}`, {
        method: "POST",
        headers: { apikey: key, authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(given),
      });
      const text = await response.text();
      const body = text === "" ? null : JSON.parse(text);
      return response.ok ? { data: body, error: null } : { data: null, error: body, status: response.status };
    },
  };
}
