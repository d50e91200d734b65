// What APNs means by the word with which it refuses a push, and why no answer may come.
const REASONS = {
  BadCollapseId: "The collapse id has more than 64 bytes.",
  BadDeviceToken: "The device token is invalid or not of this environment.",
  BadExpirationDate: "The expiration is not a number of seconds since 1970.",
  BadMessageId: "The apns-id is no UUID.",
  BadPriority: "The priority is not 10, 5 or 1, or it is 10 for a background push.",
  BadTopic: "The topic is no bundle id.",
  DeviceTokenNotForTopic: "The device token belongs to another app than the topic.",
  DuplicateHeaders: "A header came twice.",
  InvalidPushType: "APNs does not know this push type.",
  MissingTopic: "There is no topic.",
  PayloadEmpty: "The body is empty.",
  PayloadTooLarge: "The body has more than 4,096 bytes (5,120 for VoIP).",
  TopicDisallowed: "The signing key may not send to this topic.",
  Unregistered: "The device token is dead: the app was removed, or has a new one.",
  ExpiredToken: "The device token has expired.",
  TooManyRequests: "Too many pushes to one device.",
  ServiceUnavailable: "APNs is not available now.",
  InternalServerError: "APNs failed.",
  Shutdown: "The server is going away.",
  "connection-closed": "The connection ended before the answer; the push may have been delivered.",
  "refused-stream": "APNs did not process it.",
  "stream-reset": "APNs reset the stream.",
  deadline: "No answer came in time; the push may have been delivered.",
  unreachable: "No connection could be made.",
};

export function reasonWords(reason) {
  return REASONS[reason] || "";
}
