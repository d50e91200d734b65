import APNsEmulation
import APNsProtocol
import ServerSettings
import ServiceErrors
import Testing

@testable import LabServices

@Suite("A port of the emulator that is taken")
struct EmulatorPortTests {
    @Test(
        "the option that moves it is named",
        arguments: [
            (APNsEnvironment.sandbox, 2197, "--port"), (.sandbox, 2195, "--management-port"),
            (.production, 2199, "--production-port"), (.production, 2196, "--production-management-port"),
        ])
    func taken(environment: APNsEnvironment, port: Int, option: String) {
        var options = EmulatorOptions(
            address: Settings.Address(host: "127.0.0.1", port: 2197),
            adminAddress: Settings.Address(host: "127.0.0.1", port: 2198), directory: "none")
        options.productionPort = 2199
        let fault = LocalAPNsError.cannotListen(host: "127.0.0.1", port: port, cause: "another program uses it")
        let error = EmulatorService.fault(fault, of: environment, options) as? ServiceError
        #expect(
            error?.detail
                == "The local APNs cannot listen on 127.0.0.1 port \(port): another program uses it; choose another \(option)")
    }

    @Test("any other fault stays as it is")
    func others() {
        let options = EmulatorOptions(
            address: Settings.Address(host: "127.0.0.1", port: 0), adminAddress: Settings.Address(host: "127.0.0.1", port: 0),
            directory: "none")
        let fault = EmulatorService.fault(.alreadyStarted, of: .sandbox, options)
        #expect(fault as? LocalAPNsError == .alreadyStarted)
    }
}
