import APNsEmulation
import HTTPService
import Hummingbird
import ServiceErrors

/// The device side of broadcast channels. Providers manage them as they do at Apple, on the port of the management.
extension EmulatorRoutes {
    /// `POST /devices/{device}/channels`: the device follows a channel.
    struct Subscription: AdministrationBody {
        static let fields: Set<String> = ["bundleId", "channelId"]

        var bundleId: String
        var channelId: String
    }

    func addChannelRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        router.post("/devices/{device}/channels") { request, context in
            let wanted = try await request.readStrictly(Subscription.self)
            let device = try name("device", context)
            try checked {
                try apns.subscribe(device: device, toChannel: wanted.channelId, bundleID: wanted.bundleId)
            }
            return Response(status: .noContent)
        }
        router.delete("/devices/{device}/channels") { request, context in
            let unwanted = try await request.readStrictly(Subscription.self)
            let device = try name("device", context)
            try checked {
                try apns.unsubscribe(device: device, fromChannel: unwanted.channelId, bundleID: unwanted.bundleId)
            }
            return Response(status: .noContent)
        }
    }
}
