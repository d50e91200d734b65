import RichPushModel
import Testing

@testable import DeviceSimulation

/// The app's process takes a moment to start, and a user does not wait for it.
struct EndedStartTests {
    @Test("an app that is removed from the screen or replaced while its process starts does not run, and starts again afterwards")
    func ended() async throws {
        try await Stage.open { stage in
            try await ProcessPhone.use("alice", on: stage) { device in
                let phone = device.phone
                for action in [PhoneAction.terminate, .endApp, .terminate, .restoreBackup] {
                    try await phone.perform(.endApp)
                    let opening = Task { try await phone.perform(.openApp) }
                    // The system has said that it shall run; whether there is a process yet is chance.
                    _ = try await eventually("the app is to run") { await phone.system.process.isActive ? true : nil }
                    try await phone.perform(action)
                    _ = try? await opening.value
                    #expect(await phone.engine == nil)
                    #expect(await !phone.snapshot.process.isRunning, "\(action)")
                    try await phone.perform(.openApp)
                    #expect(await phone.engine != nil)
                    #expect(await phone.snapshot.user == (action == .restoreBackup ? nil : "alice"), "\(action)")
                }
                #expect(device.surplusAnswers.isEmpty)
            }
        }
    }
}

extension PhoneSnapshot.ProcessState {
    fileprivate var isRunning: Bool { self != .notRunning && self != .forceQuit }
}
