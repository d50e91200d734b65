// Common pushes to begin from.

const body = (value) => JSON.stringify(value, null, 2);

/** Pushes by hand. The last one is wrong on purpose: it shows what the checks say. */
export const PUSH_TEMPLATES = [
  { name: "Alert", push: { pushType: "alert", priority: "10" }, payload: body({ aps: { alert: { title: "Harbour", body: "The ferry leaves in ten minutes." }, sound: "default" } }) },
  { name: "Badge and sound", push: { pushType: "alert", priority: "10" }, payload: body({ aps: { alert: { title: "3 new messages", body: "The last one is from Bob." }, badge: 3, sound: "default", "thread-id": "messages" } }) },
  { name: "Background", push: { pushType: "background", priority: "5" }, payload: body({ aps: { "content-available": 1 } }) },
  { name: "Time-sensitive", push: { pushType: "alert", priority: "10" }, payload: body({ aps: { alert: { title: "At the door", body: "Your parcel is here." }, "interruption-level": "time-sensitive", sound: "default" } }) },
  { name: "For the extension", push: { pushType: "alert", priority: "10" }, payload: body({ aps: { alert: { title: "Clarion", body: "You have a new message" }, "mutable-content": 1, category: "richPush" }, richId: "1", richType: "img" }) },
  { name: "Replaces itself", push: { pushType: "alert", priority: "10", collapseId: "score" }, payload: body({ aps: { alert: { title: "Score", body: "2 : 1" } } }) },
  { name: "Now or never", push: { pushType: "alert", priority: "10", expiration: "0" }, payload: body({ aps: { alert: { title: "Live", body: "Only if the phone is there now." } } }) },
  { name: "Full of mistakes", push: { pushType: "background", priority: "10" }, payload: '{\n  "aps": {\n    "alert": "Not silent",\n    "content_available": 1,\n    "badge": "2"\n  }\n}' },
];

/** Rich notifications, of every kind. */
export const RICH_TEMPLATES = [
  { name: "Picture", kind: "img", title: "From the harbour", message: "The lighthouse this evening.", sample: true },
  { name: "Voice message", kind: "sound", title: "Voice message", message: "A short one.", sample: true },
  { name: "Video", kind: "video", title: "Evening sea", message: "Five seconds of it.", sample: true },
  { name: "Boarding pass", kind: "file", title: "Your sailing", message: "The boarding pass for Friday.", sample: true },
  { name: "Link", kind: "url", title: "Worth reading", message: "How packages are resolved.", link: "https://www.swift.org/documentation/" },
  {
    name: "Coupon", kind: "coupon", title: "For you", message: "Twenty per cent off your next order.",
    coupon: { code: "CLARION-20", headline: "20 % off your next order", terms: "One per customer, in all shops." },
  },
  { name: "Sealed", kind: "img", title: "Only for you", message: "The server cannot read this.", sample: true, sealed: true },
];
