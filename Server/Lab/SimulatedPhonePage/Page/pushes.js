// The story of a phone, sorted by push: which steps belong together, in which order they happened, and what the push says.
// What happened elsewhere is recorded a little later, so the moment orders the steps. Within one millisecond the
// way of a push does: nothing reaches a phone before the request to APNs.
const WAY = ["send", "accepted", "apns-request", "apns-answer", "stored", "delivered"];
const place = ({ step }) => (WAY.includes(step) ? WAY.indexOf(step) : WAY.length);

export function inOrder(steps) {
  return [...steps].sort((a, b) => a.at - b.at || place(a) - place(b) || a.seq - b.seq);
}

// Steps of one push share its number, or its apns-id when it names no content. The app's wish to send has neither: it goes to the
// push that its answer names, or, when the answer names none, to the push that comes with it. What belongs to no push
// (registering, switches) is gathered where it happened.
export function groupsOf(phone) {
  const groups = [];
  const byID = new Map();
  let asked = [];
  let since = null;
  const add = (step) => {
    const last = groups[groups.length - 1];
    if (last && !last.id) last.steps.push(step);
    else groups.push({ key: `${phone.id} loose ${step.seq}`, id: null, phone, steps: [step] });
  };
  const adopt = (group) => {
    group.steps = [...asked, ...group.steps];
    asked = [];
  };
  for (const step of [...phone.steps.values()].sort((a, b) => a.seq - b.seq)) {
    if (step.seq <= phone.view.clearedBefore) continue;
    const id = idOf(step);
    if (id) {
      let group = byID.get(id);
      if (!group) {
        group = { key: `${phone.id} ${id}`, id, richID: step.richId || null, push: step.push || null, phone, steps: [] };
        byID.set(id, group);
        groups.push(group);
        if (step.richId) {
          if (asked.length > 1) adopt(group);
          else since = group;
        }
      }
      group.steps.push(step);
      if (step.step === "accepted" && asked.length > 0) adopt(group);
    } else if (step.step === "send") {
      asked.forEach(add);
      asked = [step];
      since = null;
    } else if (step.step === "accepted" && asked.length > 0) {
      asked.push(step);
      if (since) adopt(since);
    } else {
      asked.forEach(add);
      asked = [];
      add(step);
    }
  }
  asked.forEach(add);
  for (const group of groups) group.steps = inOrder(group.steps);
  return groups.reverse();
}

const idOf = ({ richId, push }) => (richId ? `#${richId}` : push || null);

/** What the push says, as the phone knows it, else as it was sent; the story itself holds no content. */
export function messageOf({ phone, id, richID, steps }) {
  const { inbox, notifications, content, alert } = phone.snapshot || {};
  const known = richID && [...(inbox || []), ...(notifications || []), content, alert]
    .find((each) => each && (each.richId || each.id) === richID);
  const title = known?.title && known.title !== "Clarion" ? known.title : null;
  const message = title || known?.message || known?.body || payloadWords(steps);
  if (message) phone.view.messages.set(id, message);
  return phone.view.messages.get(id) || "Push";
}

function payloadWords(steps) {
  try {
    const { aps } = JSON.parse(steps.find(({ step }) => step === "apns-request").detail.payload);
    const words = typeof aps.alert === "string" ? aps.alert : aps.alert?.title || aps.alert?.body;
    return words || (aps["content-available"] === 1 ? "Background push" : null);
  } catch {
    return null;
  }
}
