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

/// Tells the phones' stories what happened before a push reached them: what the backend accepted, what APNs was asked, what it
/// answered, and why a push that it accepted went no further.
final class DemoStory: BackendObserver {
    /// How many sends are remembered.
    private static let sendLimit = 1_000

    /// What is known of one send. APNs may be asked before the backend says that it accepted.
    private struct Send {
        var accepted: (detail: [String: String], moment: Timestamp)?
        /// The phones for which APNs was asked and that were not told yet that it was accepted.
        var waiting: Set<String> = []
        var told: Set<String> = []
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
    /// By the device id at APNs.
    let phones: [String: SimulatedPhone]
    private let sends = Mutex(Sends())

    init(apns: LocalAPNs, phones: [String: SimulatedPhone]) {
        self.apns = apns
        self.phones = phones
    }

    /// Told only to phones for which APNs is asked: a push to somebody else is no part of a phone's story.
    func observed(_ event: BackendEvent) {
        guard case .accepted(let id, let trackingID, let sender, let kind, let style, let moment) = event else { return }
        let detail = ["sender": sender.text, "kind": kind.rawValue, "style": style.rawValue, "tracking id": trackingID.text]
        sends.withLock { sends in sends.change(id) { $0.accepted = (detail, moment) } }
        tellAccepted(id)
    }

    private func tellAccepted(_ id: RichID) {
        let news = sends.withLock { sends -> (devices: Set<String>, detail: [String: String], moment: Timestamp)? in
            guard let send = sends.byID[id], let accepted = send.accepted else { return nil }
            sends.byID[id]?.told.formUnion(send.waiting)
            sends.byID[id]?.waiting = []
            return (send.waiting, accepted.detail, accepted.moment)
        }
        guard let news else { return }
        for device in news.devices {
            phones[device]?.tell(
                .accepted, richID: id, title: "The server stored it and will send it", detail: news.detail, at: news.moment)
        }
    }

    /// Tells the phone that a request was for.
    func tell(_ exchange: APNsExchange) {
        guard let device = exchange.token.flatMap(apns.device(of:)), let phone = phones[device] else { return }
        let id = PushEnvelope(payload: Data(exchange.payload))?.id
        let push = exchange.answer?.apnsID.lowercased()
        if let id {
            sends.withLock { sends in
                sends.change(id) { if !$0.told.contains(device) { $0.waiting.insert(device) } }
            }
            tellAccepted(id)
        }
        var request = Dictionary(exchange.headers.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        request["path"] = "/3/device/\(exchange.token?.prefix(6) ?? "")…"
        request["payload"] = String(decoding: exchange.payload, as: UTF8.self)
        request["connection"] = "\(exchange.connection), stream \(exchange.stream)"
        phone.tell(
            .apnsRequest, richID: id, title: "APNs was asked, over TLS and HTTP/2", detail: request, push: push,
            at: exchange.receivedAt)
        var answer: [String: String] = [:]
        answer["status"] = exchange.answer.map { String($0.status) } ?? "none"
        answer["reason"] = exchange.answer?.reason?.rawValue
        answer["apns-id"] = exchange.answer?.apnsID
        answer["apns-unique-id"] = exchange.answer?.uniqueID
        answer["fault"] = exchange.fault?.words
        var title = exchange.answer?.status == 200 ? "APNs accepted it" : "APNs did not take it"
        if let fault = exchange.fault { title += " (fault: \(fault.words))" }
        // The local APNs decides at the moment it has the whole request.
        phone.tell(.apnsAnswer, richID: id, title: title, detail: answer, push: push, at: exchange.receivedAt)
    }
}

extension InjectedFault {
    /// What a fault of the demo does to an answer of APNs, in words.
    fileprivate var words: String {
        switch self {
        case .delay(let delay): "the answer leaves \(delay.components.seconds) s later"
        case .status(let status, _): "answered \(status)"
        case .closeConnection, .resetConnection: "the connection ends"
        default: "injected"
        }
    }
}
