/// The value of the `authorization` header, and a number that tells one value from the next.
struct APNsAuthorization {
    var value: String
    var generation: UInt64
}
