/// Tells the connection that somebody is going to read the body of the request, so that a client which asked first is told to
/// go on (RFC 9110, 10.1.1).
struct WantsBody: Sendable {}
