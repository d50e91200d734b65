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

/// Tells the phones' stories what happened before a push reached them: what the backend accepted, what APNs was asked and
/// what it answered.
final class DemoStory: BackendObserver {
    /// What was accepted is remembered until it was told to the phones it is for, and no longer than so many sends.
    private static let acceptedLimit = 1_000

    private struct Accepted {
        var detail: [String: String]
        var moment: Timestamp
        var told: Set<String> = []
    }

    private let apns: LocalAPNs
    private let phones: [SimulatedPhone]
    private let accepted = Mutex<(byID: [RichID: Accepted], order: [RichID])>(([:], []))

    init(apns: LocalAPNs, phones: [SimulatedPhone]) {
        self.apns = apns
        self.phones = phones
    }

    /// Told only to phones for which APNs is then asked: a push to somebody else is no part of a phone's story.
    func observed(_ event: BackendEvent) {
        guard case .accepted(let id, let trackingID, let sender, let kind, let style, let moment) = event else { return }
        let detail = ["sender": sender.text, "kind": kind.rawValue, "style": style.rawValue, "tracking id": trackingID.text]
        accepted.withLock { accepted in
            accepted.byID[id] = Accepted(detail: detail, moment: moment)
            accepted.order.append(id)
            if accepted.order.count > Self.acceptedLimit { accepted.byID[accepted.order.removeFirst()] = nil }
        }
    }

    private func tellAccepted(_ id: RichID?, to phone: SimulatedPhone, _ device: String) {
        let news = accepted.withLock { accepted -> Accepted? in
            guard let id, let known = accepted.byID[id], !known.told.contains(device) else { return nil }
            accepted.byID[id]?.told.insert(device)
            return known
        }
        guard let news else { return }
        phone.tell(
            .accepted, richID: id, title: "The server stored it and will send it", detail: news.detail, at: news.moment)
    }

    /// Tells the phone that a request was for.
    func tell(_ exchange: APNsExchange) async {
        guard let device = exchange.token.flatMap(apns.device(of:)), let phone = await phone(device) else { return }
        let id = PushEnvelope(payload: Data(exchange.payload))?.id
        let push = exchange.answer?.apnsID.lowercased()
        tellAccepted(id, to: phone, device)
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
        let title = exchange.answer?.status == 200 ? "APNs accepted it" : "APNs did not take it"
        // The local APNs decides at the moment it has the whole request.
        phone.tell(.apnsAnswer, richID: id, title: title, detail: answer, push: push, at: exchange.receivedAt)
    }

    private func phone(_ device: String) async -> SimulatedPhone? {
        for phone in phones where await phone.snapshot.phone.id == device { return phone }
        return nil
    }
}
