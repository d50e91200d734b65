import Testing

/// The fakes are one system, so nothing here runs beside anything else.
@Suite("The Apple face of the SDK, on stand-ins", .serialized)
@MainActor
struct AppleFace {}
