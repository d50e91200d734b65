// What is real here and what is not.
import { h } from "./dom.js";

export function about() {
  return h("div", { class: "about-card", "data-testid": "about" },
    h("p", { class: "about-line" }, h("strong", null, "This is a simulation of phones, not iOS and not Android.")),
    h("details", null,
      h("summary", null, "What is real, and what is not"),
      h("dl", null,
        h("dt", null, "Real"),
        h("dd", null, "The server, the notification hub, the store, the clients of APNs and FCM over TLS and HTTP/2, and the device "
          + "engine that also runs inside an iOS app. Every time and every header on this page was measured."),
        h("dt", null, "Simulated"),
        h("dd", null, "Apple’s and Google’s push services, by strict local ones that apply their published rules, and the operating "
          + "system around the app: its screens, its permissions, when it wakes an app."),
        h("dt", null, "Not shown"),
        h("dd", null, "How iOS and Android schedule, how they render, code signing, and the networks of Apple and Google."))));
}
