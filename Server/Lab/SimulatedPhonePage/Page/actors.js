// The actor of each step of the story.
const BY_STEP = {
  send: "user", opened: "user", dismissed: "user",
  accepted: "backend", receipt: "backend",
  "apns-request": "apns", "apns-answer": "apns", stored: "apns",
};

export const ACTORS = {
  user: { name: "You", icon: "hand" },
  backend: { name: "Backend and hub", icon: "server" },
  apns: { name: "APNs (local)", icon: "tower" },
  phone: { name: "Phone", icon: "phone" },
};

/** The name of an actor in the story of a phone. */
export const actorName = (phone, actor) => (actor === "apns" ? `${phone.service} (local)` : ACTORS[actor].name);

export function actorOf(step) {
  return BY_STEP[step] || "phone";
}
