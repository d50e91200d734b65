/// The body of the rich push tutorial's `PUT /api/register/{id}` (Reference/AzureNotificationHubs.md#7-2), with the names that
/// its client writes.
struct RegistrationBody: Decodable {
    var platform: String
    var handle: String
    var tags: [String]?

    private enum CodingKeys: String, CodingKey {
        case platform = "Platform"
        case handle = "Handle"
        case tags = "Tags"
    }
}
