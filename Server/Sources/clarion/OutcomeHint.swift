/// What the person at the terminal can do about pushes that did not arrive.
enum OutcomeHint {
    /// A line for each kind of failure that has a known cause on this side of Apple; none where everything arrived.
    static func lines(for outcomes: [String: Int]) -> [String] {
        known.filter { outcomes[$0.outcome, default: 0] > 0 }.map { "\($0.outcome): \($0.advice)" }
    }

    private static let known: [(outcome: String, advice: String)] = [
        (
            "bad-token",
            "APNs does not know the device token there. An app installed by Xcode has tokens of the sandbox, one from TestFlight or "
                + "the App Store those of production, and the token has to belong to the app of apns-topic"
        ),
        ("gone", "the app was removed from the device, or its token has changed; the device registers again when the app starts"),
    ]
}
