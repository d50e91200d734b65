import APNsEmulation
import HTTPService
import Hummingbird
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What was asked, what became of it, and how the client behaved.
extension EmulatorRoutes {
    private struct Exchange: Encodable {
        var connection: Int
        var stream: Int
        var method: String
        var path: String
        var headers: [[String]]
        var payload: String
        var payloadSize: Int
        var status: Int?
        var reason: String?
        var apnsId: String?
        var uniqueId: String?

        init(_ exchange: APNsExchange) {
            connection = exchange.connection
            stream = exchange.stream
            method = exchange.method
            path = exchange.path
            headers = exchange.headers.map { [$0.name, $0.value] }
            payload = String(validating: exchange.payload, as: UTF8.self) ?? Data(exchange.payload).base64EncodedString()
            payloadSize = exchange.payloadSize
            status = exchange.answer?.status
            reason = exchange.answer?.reason?.rawValue
            apnsId = exchange.answer?.apnsID
            uniqueId = exchange.answer?.uniqueID
        }
    }

    private struct Frame: Encodable {
        var connection: Int
        var direction: FrameRecord.Direction
        var type: String
        var flags: UInt8
        var stream: Int
        var length: Int

        init(_ frame: FrameRecord) {
            connection = frame.connection
            direction = frame.direction
            type = frame.name
            flags = frame.flags
            stream = frame.stream
            length = frame.length
        }
    }

    private struct Delivery: Encodable {
        var uniqueId: String
        var apnsId: String
        var device: String
        var topic: String
        var state: String

        init(_ record: DeliveryRecord) {
            uniqueId = record.uniqueID.uuidString.lowercased()
            apnsId = record.apnsID.uuidString.lowercased()
            device = record.device
            topic = record.topic
            state = record.state.rawValue
        }
    }

    func addRecordRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        router.get("/requests") { _, _ in try Response.json(apns.recordedExchanges.map(Exchange.init)) }
        router.get("/frames") { _, _ in try Response.json(apns.recordedFrames.map(Frame.init)) }
        router.get("/traffic") { _, _ in try Response.json(apns.traffic) }
        router.get("/complaints") { _, _ in try Response.json(apns.complaints) }
        router.delete("/requests") { _, _ in
            apns.clearRequests()
            return Response(status: .noContent)
        }
        router.delete("/frames") { _, _ in
            apns.clearFrames()
            return Response(status: .noContent)
        }
        router.delete("/complaints") { _, _ in
            apns.clearComplaints()
            return Response(status: .noContent)
        }
        router.delete("/deliveries") { _, _ in
            apns.clearDeliveries()
            return Response(status: .noContent)
        }
        router.get("/deliveries") { _, _ in try Response.json(apns.deliveries.map(Delivery.init)) }
        router.get("/deliveries/{uniqueID}") { _, context in
            guard let id = UUID(uuidString: try name("uniqueID", context)) else {
                throw ServiceError(.invalidField, "uniqueID is a UUID, as in apns-unique-id")
            }
            return try Response.json(apns.deliveries(uniqueID: id).map(Delivery.init))
        }
    }
}
