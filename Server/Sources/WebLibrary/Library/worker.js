// Rich push for websites: what pages and the service worker share, and the worker itself. The site's worker has one line,
// importScripts("https://push.example.com/web/v1/worker.js"). It may hold code of its own beside it.
(() => {
  class ClarionError extends Error {
    constructor(code, detail, status) {
      super(detail ?? code);
      Object.assign(this, { code, status });
    }
  }

  const isWorker = "ServiceWorkerGlobalScope" in self;
  const channel = new BroadcastChannel("clarion");
  const { stringify } = JSON;
  const quietly = (promise) => Promise.resolve(promise).catch(() => {});
  const alone = (work) => navigator.locks?.request("clarion", work) ?? work();

  /** Reads the state, or changes it in one transaction. An empty object leaves nothing behind. */
  const state = (edit) => new Promise((resolve, reject) => {
    const fail = () => reject(new ClarionError("unsupported", "IndexedDB failed"));
    const opening = indexedDB.open("clarion", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("state");
    opening.onerror = fail;
    opening.onsuccess = () => {
      const database = opening.result;
      const transaction = database.transaction("state", edit ? "readwrite" : "readonly");
      const store = transaction.objectStore("state");
      let value;
      store.get("state").onsuccess = ({ target }) => {
        value = target.result ?? {};
        if (!edit) return;
        value = edit(value);
        Object.keys(value).length ? store.put(value, "state") : store.delete("state");
      };
      transaction.oncomplete = () => resolve(value);
      transaction.onabort = fail;
      database.close(); // It waits for the transaction.
    };
  });

  /** Changes the state unless another session has begun. */
  const change = (own, edit) => state((now) => now.credential === own.credential ? edit(now) : now);

  const isPassing = ({ status }) => !status || status === 408 || status === 429 || status >= 500;

  /** Calls the API, up to three times: all that the library asks for is safe to repeat. */
  const request = async (server, path, authorization, options = {}) => {
    const { method, body, as = "json", signal = AbortSignal.timeout(isWorker ? 10_000 : 30_000) } = options;
    const headers = { ...(authorization && { authorization }), ...(body && { "content-type": "application/json" }) };
    for (let attempt = 1; ; attempt += 1) {
      let error, wait;
      try {
        // Browsers drop the credential when a redirect leaves the origin. One of before 2023 keeps it if the store asks for it.
        const answer = await fetch(`${server}/api/v1/${path}`, {
          method, headers, signal, body: stringify(body), cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer" });
        if (answer.ok) return answer.status === 204 ? null : await answer[as]();
        const { code, detail } = await answer.json().catch(() => ({}));
        error = new ClarionError(code ?? `status-${answer.status}`, detail, answer.status);
        wait = answer.headers.get("retry-after") * 1000;
      } catch {
        error = new ClarionError("network");
      }
      wait ||= 400 * 2 ** attempt;
      if (!isPassing(error) || attempt === 3 || wait > 5000 || signal.aborted) throw error;
      await new Promise((resolve) => {
        signal.onabort = resolve;
        setTimeout(resolve, wait * (1 + Math.random()));
      });
    }
  };

  /** Calls the API with the credential. When the server refuses it, the session ends. */
  const ask = async (own, path, options) => {
    if (!own.credential) throw new ClarionError("signed-out");
    try {
      return await request(own.server, path, `Bearer ${own.credential}`, options);
    } catch (error) {
      if (error.status === 401) {
        let hasEnded;
        await change(own, ({ credential, user, receipts, registered, ...rest }) => (hasEnded = true, rest));
        if (hasEnded) channel.postMessage({ clarion: "onSignedOut" });
      }
      throw error;
    }
  };

  const spelled = (bytes, spell) => Array.from(new Uint8Array(bytes), spell).join("");
  const base64 = (bytes) => btoa(spelled(bytes, (byte) => String.fromCharCode(byte)));
  const digest = async (bytes) => spelled(
    await crypto.subtle.digest("SHA-256", bytes), (byte) => byte.toString(16).padStart(2, "0"));

  /** Bytes that are what the details promised. */
  const content = async (own, id, { byteCount, sha256 }, options) => {
    const bytes = await ask(own, `notifications/${id}${options?.query ?? ""}`, { ...options, as: "arrayBuffer" });
    if (bytes.byteLength !== byteCount || await digest(bytes) !== sha256) throw new ClarionError("damaged");
    await note(own, id, "fetched");
    return bytes;
  };

  /**
   * Keeps a receipt until the server has it, and which notifications the user has opened or dismissed; of both the last hundred. A
   * receipt that cannot be kept must not cost the notification its texts.
   */
  const note = (own, id, kind, action) => quietly(id && own.credential && change(own, (now) => {
    const { receipts, done = [] } = now;
    if (receipts.some((known) => known.id === id && known.kind === kind && known.action === action)) return now;
    const isDone = kind === "opened" || kind === "dismissed";
    return {
      ...now, receipts: [...receipts, { id, kind, action, at: Date.now() }].slice(-100),
      done: isDone ? [...done.filter((other) => other !== id), id].slice(-100) : done };
  }));

  const flush = async (own, signal, receipts = own.receipts) => {
    if (!receipts?.length) return;
    try {
      await ask(own, "receipts", { method: "POST", body: { receipts }, signal });
    } catch (error) {
      if (isPassing(error) || error.status === 401) throw error;
      // A bad one does not take the others with it.
      if (receipts.length > 1) {
        for (const each of receipts) await flush(own, signal, [each]);
        return;
      }
    }
    const sent = stringify(receipts);
    await change(own, (now) => ({ ...now, receipts: now.receipts.filter((each) => !sent.includes(stringify(each))) }));
  };

  /** Does what the network has prevented: ends former sessions at the server, then reports. */
  const settle = async (signal) => {
    for (const { server, installation, credential } of (await state()).leaving ?? []) {
      const options = { method: "DELETE", signal };
      const isOver = await request(server, `installations/${installation}`, `Bearer ${credential}`, options)
        .then(() => true, (error) => !isPassing(error));
      if (isOver) await state(({ leaving, ...now }) => {
        const left = leaving?.filter((other) => other.credential !== credential);
        return left?.length ? { ...now, leaving: left } : now;
      });
    }
    await flush(await state(), signal);
  };

  const described = (facts, subscription) => {
    const { endpoint, keys } = subscription?.toJSON() ?? {};
    return { ...facts, handle: endpoint && `${endpoint} ${keys.p256dh} ${keys.auth}` };
  };

  /** Says what has changed, and all of it once a day. */
  const register = async (own, facts, subscription) => {
    const body = described(facts, subscription);
    if (stringify(body) === stringify(own.registered) && Date.now() - own.at < 86_400_000) return;
    await ask(own, `installations/${own.installation}`, { method: "PUT", body });
    await change(own, (now) => ({ ...now, registered: body, at: Date.now() }));
  };

  if (!isWorker) {
    // A page may get the two files from two versions, so what is new comes last.
    self[Symbol.for("clarion")] = [
      ClarionError, alone, ask, base64, change, content, described, flush, note, quietly, register, request, settle, state];
    return;
  }

  // No skipWaiting and no clients.claim: when a new worker takes over is the site's decision.

  const { registration } = self;
  const stored = () => state().catch(() => ({}));
  const settleSoon = () => settle().catch(() => quietly(registration.sync?.register("clarion")));

  /** What a push says, with Declarative Web Push or without. */
  const read = (event) => {
    let value = event.notification, badge = event.appBadge;
    if (!value) try { ({ notification: value, app_badge: badge } = event.data.json()); } catch { /* Shown as neutral. */ }
    const { title, body, tag, lang, silent, data } = value ?? {};
    return { title, body, tag, lang, silent, badge, data: data ?? {} };
  };

  const show = ({ texts, user }, { id, title, body, tag, lang, silent, picture }) => registration.showNotification(
    title || (texts?.neutral ?? "New notification"), {
      body, lang, silent, icon: picture, image: picture, data: { richId: id, user },
      tag: id ? `clarion-${id}` : tag || `clarion-${Date.now()}`,
      actions: id ? [{ action: "richPushMore", title: texts?.more ?? "More" }] : [] });

  // Each push must show something. Chromium and Firefox look a moment later whether it is still shown, and Safari counts. So it
  // stays, one for all and without a sound, until a page starts.
  const showNeutral = (own) => show(own, { tag: "clarion", silent: true });

  /** The push with the texts and the picture of the server, as far as they come in time; `null` when it is not this user's. */
  const enriched = async (own, push) => {
    const { id } = push;
    const signal = AbortSignal.timeout(8000);
    try {
      const { title, subtitle, message, language, thumb, content: original } = await ask(own, `notifications/${id}/details`, { signal });
      push.title = title ?? message;
      push.body = title && [subtitle, message].filter(Boolean).join("\n");
      push.lang = language ?? push.lang;
      const file = thumb ?? original;
      if (file?.mediaType.startsWith("image/") && file.byteCount <= 1_000_000) {
        const bytes = await content(own, id, file, { signal, query: thumb && "?variant=thumb" });
        push.picture = `data:${file.mediaType};base64,${base64(bytes)}`;
      }
    } catch (error) {
      if (error.code === "not-found" || error.status === 401) return null;
      await note(own, id, "failed", error.code);
    }
    return push;
  };

  const receive = async (event) => {
    const push = read(event);
    const own = await stored();
    const { richId, richFor } = push.data;
    const subject = new TextEncoder().encode(`clarion subject 1\n${richId}\n${own.user?.toLowerCase()}`);
    if (!own.credential || (richFor && richFor !== (await digest(subject)).slice(0, 16))) return showNeutral(own);
    if (/^[1-9]\d{0,9}$/.test(richId)) push.id = richId;
    await note(own, push.id, "delivered");
    // A push may come twice. What the user has opened or dismissed is not shown again, and yet something must be.
    const isDone = own.done?.includes(push.id);
    const shown = isDone ? null : push.id ? await enriched(own, push) : push;
    // The user may have changed meanwhile, also while it is shown.
    const isCurrent = () => state().then(({ user }) => user === own.user, () => false);
    const isOwn = await isCurrent();
    await (isOwn && shown ? show(own, shown) : showNeutral(own)).catch(() => note(own, push.id, "failed", "not-shown"));
    if (!isOwn) return;
    if (!await isCurrent()) {
      await showNeutral({});
      for (const late of await registration.getNotifications()) if (late.data?.user === own.user) late.close();
      return;
    }
    if (Number.isInteger(push.badge)) await quietly(navigator.setAppBadge?.(push.badge));
    channel.postMessage({ clarion: "onReceive", id: push.id });
    await settleSoon();
  };

  /** Whether a page has the library and is awake. */
  const listens = (page) => new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve(true);
    page.postMessage({ clarion: "ping" }, [port2]);
    setTimeout(resolve, 500);
  });

  /** The notification's number. Firefox reports as closed also what a page closes, such as the former user's. */
  const idOf = ({ user }, { data }) => data?.user === user ? data?.richId : undefined;

  const open = async (own, id) => {
    const pages = (await clients.matchAll({ type: "window", includeUncontrolled: true }))
      .filter(({ url }) => url.startsWith(registration.scope));
    const answers = await Promise.all(pages.map(listens));
    const page = pages.find((_, index) => answers[index]);
    page?.postMessage({ clarion: "onOpen", id });
    // Only what the site has chosen is opened: an address in a push is another's.
    await quietly(page ? page.focus() : clients.openWindow((own.page ?? registration.scope) + (id ? `#clarion=${id}` : "")));
  };

  const on = (kind, react) => addEventListener(kind, (event) => {
    const { notification } = event;
    // What the site shows by itself is left alone.
    if (kind === "push" || !notification || notification.tag.startsWith("clarion")) event.waitUntil(react(event, notification));
  });

  on("push", (event) => receive(event).catch(() => showNeutral({})));
  on("sync", async ({ tag }) => tag === "clarion" && settle());
  on("pushsubscriptionchange", ({ newSubscription }) => alone(async () => {
    const own = await state();
    if (!own.credential || !own.key) return;
    const options = { userVisibleOnly: true, applicationServerKey: own.key };
    await register(own, own.registered, newSubscription ?? await registration.pushManager.subscribe(options));
  }));
  on("notificationclick", async ({ action }, notification) => {
    notification.close();
    const own = await stored();
    const id = idOf(own, notification);
    await open(own, id);
    await note(own, id, "opened");
    if (action) await note(own, id, "action", action);
    await settleSoon();
  });
  on("notificationclose", async (_, notification) => {
    const own = await stored();
    // Firefox reports as closed also what another one with the same tag has replaced.
    if ((await registration.getNotifications({ tag: notification.tag })).length) return;
    await note(own, idOf(own, notification), "dismissed");
    await settleSoon();
  });
})();
