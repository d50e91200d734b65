import ArgumentParser
import CommandLineSupport
import DeviceSimulation
import RichPushModel
import ServerSettings

/// A phone in a terminal from its start to `quit` or the end of the input.
struct PhoneSession: Sendable {
    /// How long `wait` waits.
    private static let longestWait: Duration = .seconds(60)

    let phone: SimulatedPhone
    let user: String
    let password: SecretText
    let printer: PhonePrinter

    func run() async throws {
        let printing = Task { await tell() }
        await phone.start()
        let result: Result<Void, any Error>
        do {
            try await signIn()
            result = .success(await obey())
        } catch { result = .failure(error) }
        await phone.stop()
        await printing.value
        try result.get()
    }

    /// Prints what happens until the phone is off. What the display shows comes from the moment on when this user is signed in: what
    /// is left of another is not for them.
    private func tell() async {
        var first: PhoneSnapshot?
        var before: PhoneSnapshot?
        for await update in phone.updates() {
            switch update {
            case .story(let step): printer.print(step)
            case .snapshot(let snapshot):
                let beginning = first ?? snapshot
                first = beginning
                guard before != nil || isOurs(snapshot) else { continue }
                printer.print(snapshot, before: before, beginning: beginning)
                before = snapshot
            }
        }
    }

    private func isOurs(_ snapshot: PhoneSnapshot) -> Bool { snapshot.user?.lowercased() == user.lowercased() }

    /// A phone whose app is signed in stays so; another user is signed out first. One without the app waits for the order to install it.
    private func signIn() async throws {
        guard await phone.snapshot.installed else {
            return Terminal.note("clarion: the app is not on this phone; type install, then app and sign-in")
        }
        do throws(PhoneActionError) {
            try await phone.perform(.openApp)
            let before = await phone.snapshot
            if before.user != nil {
                if isOurs(before) { return }
                try await phone.perform(.signOut)
            }
            try await phone.perform(.signIn(user: user, password: password.reveal()))
        } catch {
            Terminal.note("clarion: \(error.sentence)")
            throw ExitCode.failure
        }
        let snapshot = await phone.snapshot
        guard snapshot.user == nil else { return }
        let reason = snapshot.signIn.error ?? "the app could not sign in"
        Terminal.note("clarion: \(reason)")
        throw reason.contains("password") ? ExitCode.noPermission : ExitCode.unreachable
    }

    private func obey() async {
        for await line in InputLines.all {
            let order: PhoneOrder
            do throws(PhoneOrder.Fault) {
                guard let parsed = try PhoneOrder.parse(line) else { continue }
                order = parsed
            } catch {
                printer.refuse(line, error.description)
                continue
            }
            if order == .quit { return }
            await obey(order, line)
        }
    }

    private func obey(_ order: PhoneOrder, _ line: String) async {
        do {
            switch order {
            case .help: printer.help()
            case .show: printer.show(await phone.snapshot)
            case .inbox: printer.inbox(await phone.snapshot)
            case .signIn: try await phone.perform(.signIn(user: user, password: password.reveal()))
            case .wait(let count): if await !wait(for: count) { return printer.refuse(line, "nothing came within a minute") }
            default:
                if let action = try order.action(on: await phone.snapshot) { try await phone.perform(action) }
            }
            printer.done(line)
        } catch let error as PhoneActionError {
            printer.refuse(line, error.sentence)
        } catch {
            printer.refuse(line, "\(error)")
        }
    }

    /// Whether as many more were shown in time. What was shown since the last `wait` counts.
    private func wait(for count: Int) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { await self.phone.seen(count) }
            group.addTask {
                try? await Task.sleep(for: Self.longestWait)
                return false
            }
            let first = await group.next() ?? false
            group.cancelAll()
            return first
        }
    }
}
