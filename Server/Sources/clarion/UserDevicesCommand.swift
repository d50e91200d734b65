import ArgumentParser
import CommandLineSupport
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct UserDevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices", abstract: "List the devices on which a user is signed in, and what each told of itself.",
        discussion: "A permission that is denied means that this person sees no notification there.")

    @Argument(help: "The user.")
    var name: UserName

    @Flag(help: "Write JSON.")
    var json = false

    @OptionGroup var node: NodeArguments

    func run() async throws {
        let list = try await node.users().devices(of: name)
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(list), as: UTF8.self))
        } else {
            let columns = ["DEVICE", "TOKEN", "ENVIRONMENT", "APP", "SYSTEM", "PERMISSION", "LOCALE", "TIME ZONE", "CAN"]
            print(TextTable(columns: columns, rows: list.devices.map(Self.row)))
            for device in list.takenOver ?? [] {
                let time = Date(timeIntervalSince1970: Double(device.takenAt.milliseconds) / 1000).formatted(.iso8601)
                print("\(device.id) was taken over by another user at \(time)")
            }
        }
    }

    private static func row(_ device: DeviceEntry) -> [String] {
        let told = [
            device.handle, device.environment, device.appVersion, device.systemVersion, device.permission, device.locale,
            device.timeZone, device.capabilities?.joined(separator: ","),
        ]
        return [device.id] + told.map { $0 ?? "-" }
    }
}
