import APNsEmulation
import AppBackend
import DeviceSimulation
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Tells the phones' stories what happened before a push reached them: what the backend accepted, what APNs was asked and
/// what it answered.
struct DemoStory: BackendObserver {
    let apns: LocalAPNs
    let phones: [SimulatedPhone]

    func observed(_ event: BackendEvent) {
        guard case .accepted(let id, let trackingID, let sender, let kind, let style, let moment) = event else { return }
        for phone in phones {
            phone.tell(
                .accepted, richID: id, title: "The server stored it and will send it",
                detail: [
                    "sender": sender.text, "kind": kind.rawValue, "style": style.rawValue, "tracking id": trackingID.text,
                ], at: moment)
        }
    }

    /// Tells the phone that a request was for.
    func tell(_ exchange: APNsExchange) async {
        guard let device = exchange.token.flatMap(apns.device(of:)), let phone = await phone(device) else { return }
        let id = PushEnvelope(payload: Data(exchange.payload))?.id
        var request = Dictionary(exchange.headers.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        request["path"] = "/3/device/\(exchange.token?.prefix(6) ?? "")…"
        request["payload"] = String(decoding: exchange.payload, as: UTF8.self)
        request["connection"] = "\(exchange.connection), stream \(exchange.stream)"
        phone.tell(
            .apnsRequest, richID: id, title: "APNs was asked, over TLS and HTTP/2", detail: request, at: exchange.receivedAt)
        var answer: [String: String] = [:]
        answer["status"] = exchange.answer.map { String($0.status) } ?? "none"
        answer["reason"] = exchange.answer?.reason?.rawValue
        answer["apns-id"] = exchange.answer?.apnsID
        answer["apns-unique-id"] = exchange.answer?.uniqueID
        let title = exchange.answer?.status == 200 ? "APNs accepted it" : "APNs did not take it"
        // The local APNs decides at the moment it has the whole request.
        phone.tell(.apnsAnswer, richID: id, title: title, detail: answer, at: exchange.receivedAt)
    }

    private func phone(_ device: String) async -> SimulatedPhone? {
        for phone in phones where await phone.snapshot.phone.id == device { return phone }
        return nil
    }
}
