// Rich push for a web page. See Documentation/AddToAWebsite.md.
import "./worker.js";

const [ClarionError, alone, ask, base64, change, content, described, flush, note, quietly, register, request, settle, state] =
  self[Symbol.for("clarion")];

/** Each failure is one. `code` is that of the server, or `network`, `unsupported`, `denied`, `damaged` or `signed-out`. */
export { ClarionError };

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** What a promise gives, or after that time nothing. */
const within = (milliseconds, promise) => Promise.race([promise, pause(milliseconds)]);

const noAnswer = "The browser's push service does not answer.";

const keyOf = ({ options }) => base64(options.applicationServerKey).replace(/[+/=]/g, (letter) => ({ "+": "-", "/": "_" })[letter] ?? "");

const entryOf = (id) => `notifications/${encodeURIComponent(id)}`;

/** The record of a session that is to end at the server. */
const ending = ({ server, installation, credential }) => ({ server, installation, credential });

/** A link that is no web address is left out. */
const checked = ({ link, ...entry }) => /^https?:\/\//i.test(link) ? { ...entry, link } : entry;

export class Clarion {
  #options;
  #registration;
  #trouble;

  /**
   * Begins; for each load of a page.
   * @param {object} options
   * @param {string} options.server address of the server
   * @param {string} [options.worker] the site's service worker, which imports `worker.js`
   * @param {string} [options.scope] its scope
   * @param {string} [options.page] what a tap on a notification opens; by default this page, without its query
   * @param {string[]} [options.tags]
   * @param {{neutral?: string, more?: string}} [options.texts] words on notifications
   * @param {(id: string) => void} [options.onOpen] a notification was tapped
   * @param {(id?: string) => void} [options.onReceive] a notification came
   * @param {() => void} [options.onSignedOut] the server has ended the session
   * @returns {Promise<Clarion>}
   */
  static async start(options) {
    const clarion = new Clarion();
    await clarion.#start(options);
    // Later, since `onOpen` may use what `start` gives.
    setTimeout(() => clarion.#tapped());
    return clarion;
  }

  async #start(options) {
    // Without the query, which may hold what is for this page alone.
    const here = location.origin + location.pathname;
    const { worker, scope } = this.#options = {
      worker: "/clarion-worker.js", tags: [], ...options, page: new URL(options.page ?? here, here).href,
      server: new URL(options.server, here).href.replace(/\/+$/, "") };
    const workers = navigator.serviceWorker;
    this.#registration = await workers?.register(worker, scope && { scope }).catch(({ message }) => { this.#trouble = message; });
    // Without a session the page removes what the former session showed, also when the server ended that session.
    await this.#close((await quietly(state()))?.user && "clarion");
    // Each message has the name of the option that it is for.
    const hear = ({ data, ports }) => {
      const { clarion, id } = data ?? {};
      if (clarion === "ping") ports[0]?.postMessage(0);
      else this.#options[clarion]?.(id);
    };
    new BroadcastChannel("clarion").onmessage = hear;
    workers?.addEventListener("message", hear);
    workers?.startMessages();
    // Declarative Web Push may change the fragment of a page that is open.
    addEventListener("hashchange", () => this.#tapped());
    quietly(alone(() => this.#renew()).finally(settle));
  }

  /**
   * `needsHomeScreen`: iPhones push to sites on the Home Screen only.
   * @returns {Promise<{isSupported: boolean, needsHomeScreen: boolean, permission: NotificationPermission, user: string | null,
   *   isSubscribed: boolean}>}
   */
  async state() {
    const { user = null, key } = await state();
    const isSupported = this.#isSupported;
    return {
      isSupported, needsHomeScreen: !isSupported && navigator.standalone === false, user,
      permission: this.#permission, isSubscribed: !!await this.#subscription(key) };
  }

  /**
   * Signs in; another user's session ends.
   * @param {{token: string} | {name: string, password: string}} proof
   * @returns {Promise<string>} the user
   */
  signIn({ token, name, password }) {
    const authorization = token ? `Bearer ${token}` : `Basic ${base64(new TextEncoder().encode(`${name}:${password}`))}`;
    return alone(async () => {
      const { server, page, texts } = this.#options;
      // Stored first: a repeat after a lost answer takes the same place.
      const old = await state((now) => ({ installation: crypto.randomUUID(), ...now }));
      // The credential is void afterwards.
      await quietly(flush(old, AbortSignal.timeout(5000)));
      const registered = described(this.#facts(), await this.#subscription(old.key));
      let { installation } = old;
      const put = () => request(server, `installations/${installation}`, authorization, { method: "PUT", body: registered });
      const { user, credential } = await put().catch((error) => {
        // Another user has it.
        if (![404, 410].includes(error.status)) throw error;
        installation = crypto.randomUUID();
        return put();
      });
      const isSame = user === old.user;
      await state(({ receipts, done, leaving = [], ...now }) => ({
        ...now, server, page, texts, installation, user, credential, registered, at: Date.now(),
        receipts: isSame ? receipts : [], done: isSame ? done : [],
        leaving: old.credential && installation !== old.installation ? [...leaving, ending(old)] : leaving }));
      if (!isSame) await this.#clear();
      quietly(settle());
      return user;
    });
  }

  /** Signs out and leaves nothing. Without a network only what ends the session at the server is kept, until it has. */
  signOut() {
    return alone(async () => {
      let old;
      await state((now) => {
        old = now;
        const { credential, leaving = [] } = now;
        const left = credential ? [...leaving, ending(now)].slice(-5) : leaving;
        return left.length ? { leaving: left } : {};
      });
      await this.#clear();
      await quietly((await quietly(this.#subscription(old.key)))?.unsubscribe());
      const signal = AbortSignal.timeout(5000);
      await quietly(flush(old, signal));
      await quietly(settle(signal));
    });
  }

  /** Asks for the permission and subscribes; for a click. */
  async subscribe() {
    if (!this.#isSupported) throw new ClarionError("unsupported", this.#trouble);
    if (await Notification.requestPermission() !== "granted") throw new ClarionError("denied");
    await alone(() => this.#renew(true));
  }

  /** Ends the subscription; the user stays signed in. */
  unsubscribe() {
    return alone(async () => {
      await (await this.#subscription((await state()).key))?.unsubscribe();
      await state(({ key, ...now }) => now);
      await this.#renew();
    });
  }

  /**
   * Newest first.
   * @param {{before?: string, limit?: number}} [page] `before` is the `next` of the page before
   * @returns {Promise<{notifications: object[], unread: number, next?: string}>}
   */
  async inbox(page) {
    const answer = await this.#ask(`notifications?${new URLSearchParams(JSON.parse(JSON.stringify(page ?? {})))}`);
    return { ...answer, notifications: answer.notifications.map(checked) };
  }

  /** The texts of a notification, and what its content is. */
  async details(id) { return checked(await this.#ask(`${entryOf(id)}/details`)); }

  /**
   * The content, checked. What could run as a page of this origin has no type.
   * @returns {Promise<Blob | null>}
   */
  async content(id) {
    const { content: file } = await this.details(id);
    if (!file) return null;
    const type = /html|xml|script/i.test(file.mediaType) ? "" : file.mediaType;
    const blob = new Blob([await content(await state(), id, file)], { type });
    quietly(settle());
    return blob;
  }

  /** Marks as read on all devices of the user, or as unread. */
  markRead(id, read = true) { return this.#ask(entryOf(id), { method: "PATCH", body: { read } }); }

  /** Answers the sender, once for each `key`. */
  reply(id, text, key = crypto.randomUUID()) {
    return this.#ask(`${entryOf(id)}/replies`, { method: "POST", body: { id: key, text } });
  }

  /** Reports that the user has opened a notification. */
  async open(id) {
    await note(await state(), id, "opened");
    await quietly(settle());
  }

  get #isSupported() { return !!(this.#registration?.pushManager && self.Notification); }

  get #permission() { return self.Notification?.permission ?? "denied"; }

  async #ask(path, options) { return ask(await state(), path, options); }

  #tapped() {
    const id = /^#clarion=([1-9]\d{0,9})$/.exec(location.hash)?.[1];
    if (!id) return;
    history.replaceState(history.state, "", location.href.split("#")[0]);
    quietly(this.open(id));
    this.#options.onOpen?.(id);
  }

  #facts() {
    const { page, tags } = this.#options;
    const permission = this.#permission;
    return {
      platform: "browser", tags, topic: page, locale: navigator.language, languages: navigator.languages.slice(0, 8),
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone, permission: permission === "default" ? "notDetermined" : permission,
      capabilities: ["web"] };
  }

  /** The subscription, if it was made with this key: the site may have one for another service. */
  async #subscription(key) {
    if (!this.#isSupported || !key) return null;
    // Firefox does not answer before its push service has begun.
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const found = await within(2000, this.#registration.pushManager.getSubscription());
      if (found !== undefined) return found && keyOf(found) === key ? found : null;
    }
    throw new ClarionError("network", noAnswer);
  }

  /** Subscribes, anew when the server has another key, and registers what has changed. */
  async #renew(isWanted) {
    const { server, page, texts } = this.#options;
    const own = await state();
    let subscription = await this.#subscription(own.key);
    if (isWanted || (own.key && own.credential && this.#permission === "granted" && this.#isSupported)) {
      const { publicKey } = await request(server, "web-push").catch((error) => {
        if (isWanted) throw error;
        return { publicKey: own.key };
      });
      if (!subscription || publicKey !== own.key) subscription = await this.#subscribe(publicKey);
    }
    if (!own.credential) return;
    await change(own, (now) => ({ ...now, page, texts }));
    await register(own, this.#facts(), subscription);
  }

  async #subscribe(key) {
    const registration = this.#registration;
    for (let attempt = 0; attempt < 100 && !registration.active; attempt += 1) await pause(100);
    try {
      const former = await registration.pushManager.getSubscription();
      if (former && keyOf(former) !== key) await former.unsubscribe();
      // Without its push service a browser may never answer.
      const options = { userVisibleOnly: true, applicationServerKey: key };
      const subscription = await within(30_000, registration.pushManager.subscribe(options));
      if (!subscription) throw new Error(noAnswer);
      await state((now) => ({ ...now, key }));
      return subscription;
    } catch ({ name, message }) {
      throw new ClarionError(name === "NotAllowedError" ? "denied" : "network", message);
    }
  }

  /** Takes the library's notifications from the screen, or those with one tag. */
  async #close(tag) {
    const all = await quietly(this.#registration?.getNotifications({ tag })) ?? [];
    for (const shown of all) if (shown.tag.startsWith("clarion")) shown.close();
  }

  async #clear() {
    await this.#close();
    await quietly(navigator.clearAppBadge?.());
  }
}
