import APNsEmulation
import AppBackend
import DeviceSimulation
import RichPushModel
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Records in the phones' stories what happened before a push reached them: what the backend accepted, the request to APNs, its
/// answer, and why an accepted push went no further.
final class DemoStory: BackendObserver {
    /// How many sends are remembered.
    private static let sendLimit = 1_000

    /// What is known of one send. The request to the push service may precede the backend's report that it accepted.
    private struct Send {
        var accepted: (detail: [String: String], moment: Timestamp)?
        /// The phones with a request to their push service that have no step for the backend's acceptance yet.
        var waiting: Set<String> = []
        var reported: Set<String> = []
    }

    private struct Sends {
        var byID: [RichID: Send] = [:]
        var order: [RichID] = []

        /// Changes what is known of a send; the one that is known longest is forgotten for a new one.
        mutating func change(_ id: RichID, _ change: (inout Send) -> Void) {
            if byID[id] == nil {
                byID[id] = Send()
                order.append(id)
                if order.count > DemoStory.sendLimit { byID[order.removeFirst()] = nil }
            }
            if byID[id] != nil { change(&byID[id, default: Send()]) }
        }
    }

    private let apns: LocalAPNs
    /// By the device id at APNs or FCM.
    let phones: [String: any StoryPhone]
    private let sends = Mutex(Sends())

    init(apns: LocalAPNs, phones: [String: any StoryPhone]) {
        self.apns = apns
        self.phones = phones
    }

    /// Recorded only at phones with a request to their push service: a push to another user is no part of a phone's story.
    func observed(_ event: BackendEvent) {
        guard case .accepted(let id, let trackingID, let sender, let kind, let style, let moment) = event else { return }
        let detail = ["sender": sender.text, "kind": kind.rawValue, "style": style.rawValue, "tracking id": trackingID.text]
        sends.withLock { sends in sends.change(id) { $0.accepted = (detail, moment) } }
        recordAccepted(id)
    }

    private func recordAccepted(_ id: RichID) {
        let news = sends.withLock { sends -> (devices: Set<String>, detail: [String: String], moment: Timestamp)? in
            guard let send = sends.byID[id], let accepted = send.accepted else { return nil }
            sends.byID[id]?.reported.formUnion(send.waiting)
            sends.byID[id]?.waiting = []
            return (send.waiting, accepted.detail, accepted.moment)
        }
        guard let news else { return }
        for device in news.devices {
            phones[device]?.record(
                .accepted, richID: id, title: "The server stored it and will send it", detail: news.detail, push: nil,
                at: news.moment)
        }
    }

    /// A push service was asked to bring it to a phone.
    func noteRequest(for id: RichID, to device: String) {
        sends.withLock { sends in
            sends.change(id) { if !$0.reported.contains(device) { $0.waiting.insert(device) } }
        }
        recordAccepted(id)
    }

    /// Records it at the phone that the request was for.
    func record(_ exchange: APNsExchange) {
        guard let device = exchange.token.flatMap(apns.device(of:)), let phone = phones[device] else { return }
        let id = PushEnvelope(payload: Data(exchange.payload))?.id
        let push = exchange.answer?.apnsID.lowercased()
        if let id { noteRequest(for: id, to: device) }
        var request = Dictionary(exchange.headers.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        request["path"] = "/3/device/\(exchange.token?.prefix(6) ?? "")…"
        request["payload"] = String(decoding: exchange.payload, as: UTF8.self)
        request["connection"] = "\(exchange.connection), stream \(exchange.stream)"
        phone.record(
            .apnsRequest, richID: id, title: "APNs was asked, over TLS and HTTP/2", detail: request, push: push,
            at: exchange.receivedAt)
        var answer: [String: String] = [:]
        answer["status"] = exchange.answer.map { String($0.status) } ?? "none"
        answer["reason"] = exchange.answer?.reason?.rawValue
        answer["apns-id"] = exchange.answer?.apnsID
        answer["apns-unique-id"] = exchange.answer?.uniqueID
        answer["fault"] = exchange.fault?.summary
        var title = exchange.answer?.status == 200 ? "APNs accepted it" : "APNs did not take it"
        if let fault = exchange.fault { title += " (fault: \(fault.summary))" }
        // The local APNs decides at the moment it has the whole request.
        phone.record(.apnsAnswer, richID: id, title: title, detail: answer, push: push, at: exchange.receivedAt)
    }

    /// Records at the push's phone why the push does not come, or not yet.
    func record(_ fate: PushFate) {
        guard let phone = phones[fate.device], let sentence = fate.state.sentence else { return }
        phone.record(
            fate.state.isWaiting ? .stored : .held, richID: PushEnvelope(payload: Data(fate.payload))?.id, title: sentence,
            detail: [:], push: fate.apnsID.uuidString.lowercased(), at: fate.moment)
    }
}

/// A phone with a story that others add to.
protocol StoryPhone: Sendable {
    func record(
        _ kind: StoryStep.Kind, richID: RichID?, title: String, detail: [String: String], push: String?, at moment: Timestamp?)
}

extension SimulatedPhone: StoryPhone {}
extension AndroidPhone: StoryPhone {}

extension InjectedFault {
    /// What a fault of the demo does to an answer of APNs.
    fileprivate var summary: String {
        switch self {
        case .delay(let delay): "the answer leaves \(delay.components.seconds) s later"
        case .status(let status, _): "answered \(status)"
        case .closeConnection, .resetConnection: "the connection ends"
        default: "injected"
        }
    }
}

extension DeliveryRecord.State {
    fileprivate var isWaiting: Bool { self == .stored || self == .held }

    /// Human-readable; `nil` for what the phone records itself.
    fileprivate var sentence: String? {
        switch self {
        case .stored: "APNs keeps it until the phone is back"
        case .held: "APNs holds it back: too many background pushes in an hour"
        case .delivered: nil
        case .discarded: "APNs dropped it: the phone was offline, and the push was to be tried once only"
        case .expired: "APNs dropped it: its time was over before the phone was back"
        case .replaced: "A newer push replaced it: while a phone is offline, APNs keeps one for each app"
        case .suppressed: "APNs dropped it: the user force-quit the app"
        case .overflowed: "It was lost: the phone did not take its pushes fast enough"
        }
    }
}
