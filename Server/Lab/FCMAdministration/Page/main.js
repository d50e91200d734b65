// The page of the local FCM: draws every part anew when the service has answered.
import { h, render } from "./dom.js";
import { follow, service } from "./service.js";
import { faults } from "./faults.js";
import { phones } from "./phones.js";
import { requests, rules } from "./requests.js";
import { senders } from "./senders.js";

const PARTS = { senders, phones, faults, requests, rules };

function draw() {
  const [kind, words] = service.isLost ? ["bad", "does not answer; asking again"] : ["good", "live"];
  render(document.getElementById("top"),
    h("img", { src: "/fcm/assets/clarion.svg", alt: "", width: "34", height: "34" }), h("h1", null, "Local FCM"),
    h("span", { class: `badge ${kind}`, role: "status", "data-testid": "connection" }, words), h("p", { class: "hint" }, "Not Google's: for tests of Android backends on this machine."));
  if (service.state) for (const [name, view] of Object.entries(PARTS)) render(document.getElementById(name), view());
}

follow(draw);
