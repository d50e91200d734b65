/// What a browser says of its subscription, with the keys of RFC 8291, section 5.
public enum SampleSubscription {
    public static let publicKey = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    public static let secret = "BTBZMqHH6r4Tts7J_aSIgg"

    /// The text that a hub keeps of it.
    public static func token(_ endpoint: String, _ publicKey: String = publicKey, _ secret: String = secret) -> String {
        "\(endpoint) \(publicKey) \(secret)"
    }
}
