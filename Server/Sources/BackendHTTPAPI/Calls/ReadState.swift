/// The body of `PATCH /api/v1/notifications/{id}`.
struct ReadState: Decodable {
    var read: Bool
}
