import APNsEmulation
import DeviceSimulation
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension DemoStory {
    /// Tells the phone that a push was for why it does not come, or not yet.
    func tell(_ fate: PushFate) {
        guard let phone = phones[fate.device], let sentence = fate.state.sentence else { return }
        phone.tell(
            fate.state.isWaiting ? .stored : .held, richID: PushEnvelope(payload: Data(fate.payload))?.id, title: sentence,
            push: fate.apnsID.uuidString.lowercased(), at: fate.moment)
    }
}

extension DeliveryRecord.State {
    fileprivate var isWaiting: Bool { self == .stored || self == .held }

    /// For people; `nil` for what the phone tells itself.
    fileprivate var sentence: String? {
        switch self {
        case .stored: "APNs keeps it until the phone is back"
        case .held: "APNs holds it back: too many background pushes in an hour"
        case .delivered: nil
        case .discarded: "APNs dropped it: the phone was away, and the push was to be tried once only"
        case .expired: "APNs dropped it: its time was over before the phone was back"
        case .replaced: "A newer push took its place: while a phone is away, APNs keeps one for each app"
        case .suppressed: "APNs dropped it: the user force-quit the app"
        case .overflowed: "It was lost: the phone did not take its pushes fast enough"
        }
    }
}
