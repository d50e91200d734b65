// Where senders find the service, and how each of them is pointed at it.
import { h } from "./dom.js";
import { choices } from "./choices.js";
import { icon } from "./icons.js";
import { toast } from "./toast.js";
import { redraw, service } from "./service.js";

const GOOGLE_NAMES = "fcm.googleapis.com oauth2.googleapis.com iid.googleapis.com www.googleapis.com";
let client = "Clarion";

/** Each has the lines for one client; `names` when it reaches Google by name only. */
const CLIENTS = {
  Clarion: { lines: ({ keyPath, authorityPath }, { hostname, port }) => [`fcm-key-path: ${keyPath}`, `fcm-host: ${hostname}`, `fcm-port: ${port || 443}`, `fcm-trust-roots-path: ${authorityPath}`] },
  Go: { lines: ({ origin, keyPath, authorityPath }) => [`// with SSL_CERT_FILE=${authorityPath}`, "firebase.NewApp(ctx, nil,", `    option.WithCredentialsFile("${keyPath}"),`, `    option.WithEndpoint("${origin}/v1"))`] },
  Python: { names: true, lines: ({ keyPath, authorityPath }) => [`# with REQUESTS_CA_BUNDLE=${authorityPath} SSL_CERT_FILE=${authorityPath}`, `firebase_admin.initialize_app(credentials.Certificate("${keyPath}"))`] },
  Node: { names: true, lines: ({ keyPath, authorityPath }) => [`// with NODE_EXTRA_CA_CERTS=${authorityPath}`, `initializeApp({ credential: cert("${keyPath}") });`] },
  Java: { names: true, lines: ({ keyPath, authorityPath }) => [`// with -Djavax.net.ssl.trustStore, into which keytool -importcert puts ${authorityPath}`, `GoogleCredentials.fromStream(new FileInputStream("${keyPath}"))`] },
};

/** A button that puts a text on the clipboard. */
export function copyButton(text, what) {
  const copy = () => Promise.resolve(navigator.clipboard?.writeText(text) ?? Promise.reject())
    .then(() => toast(`${what} is on the clipboard.`), () => toast("The browser does not let this page use the clipboard."));
  return h("button", { type: "button", class: "copy", "aria-label": `Copy: ${what}`, title: "Copy", onclick: copy, "data-testid": "copy" }, icon("copy"));
}

export const copied = (name, text, what) => h("div", { key: name }, h("dt", null, name), h("dd", { class: "copied" }, h("code", null, text), copyButton(text, what)));

export function senders() {
  const { place, projects } = service.state;
  return [
    h("h2", null, "Senders"),
    h("dl", { class: "facts" },
      copied("Address", place.origin, "The address"),
      copied("Service account file", place.keyPath, "The path of the service account file"),
      copied("Certificate to trust", place.authorityPath, "The path of the certificate"),
      projects.map(({ id, number, settings }) => h("div", { key: id }, h("dt", null, "Project"), h("dd", null, h("code", null, `${id} (${number})`), " ",
        [!settings.isAPIEnabled && "API off", !settings.hasAPNsKey && "bad APNs key", !settings.hasWebPushKey && "bad web push key"].filter(Boolean)
          .map((text) => h("span", { class: "badge bad", key: text }, text)))))),
    h("details", { class: "fold", created: (node) => { node.open = service.requests.length === 0; }, "data-testid": "clients" },
      h("summary", null, "Point a sender here"),
      choices("Client", { class: "segments" }, Object.keys(CLIENTS).map((name) => ({
        key: name, isTaken: name === client, content: name, properties: { "data-testid": `client-${name}` }, take: () => { client = name; redraw(); },
      }))),
      how(place, CLIENTS[client])),
  ];
}

function how(place, { lines, names }) {
  const isReady = place.standsInForGoogle && !new URL(place.origin).port;
  const text = lines(place, new URL(place.origin)).join("\n");
  return [
    names && h("p", { class: "note", key: "names" },
      `This client calls Google by name. ${isReady ? "" : "Start the emulator with --fcm-port 443 --fcm-as-google. "}For the sender, let the names lead here, by its hosts file: `,
      h("code", null, `127.0.0.1 ${GOOGLE_NAMES}`)),
    h("div", { class: "command", key: "lines" }, h("pre", { "data-testid": "client-lines" }, text), copyButton(text, "What the client needs")),
  ];
}
