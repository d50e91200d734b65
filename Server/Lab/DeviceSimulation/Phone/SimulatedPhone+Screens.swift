import RichPushDevice
import RichPushModel

/// The app's screens, as an app would write them on top of the engine.
extension SimulatedPhone {
    /// Questions that pile up while nobody answers; the oldest go.
    private static let offerLimit = 5

    /// The engine shows a content: first as loading, then as it ends.
    func route(_ content: OpenedContent) {
        if content.state == .loading {
            loading.insert(content.richID)
        } else if loading.remove(content.richID) != nil, view.content?.richID != content.richID {
            // The user closed the screen while it was loading.
            return
        }
        opened = content
        view.content = Self.screen(content)
        appScreen = .content
        publish()
    }

    func ask(_ offer: ContentOffer) {
        offers.removeAll { $0.richID == offer.richID }
        offers.append(offer)
        if offers.count > Self.offerLimit { offers.removeFirst() }
        publish()
        noteSeen()
    }

    func closeContent() {
        view.content = nil
        opened = nil
        if appScreen == .content { appScreen = .main }
        publish()
    }

    private static func screen(_ opened: OpenedContent) -> PhoneSnapshot.Content {
        var content = PhoneSnapshot.Content(
            richID: opened.richID, kind: opened.kind, title: opened.title, message: opened.message, state: .loading)
        content.subtitle = opened.subtitle
        content.altText = opened.altText
        content.fileName = opened.fileName
        content.mediaType = opened.content?.mediaType
        content.hasMedia = opened.content != nil
        content.link = opened.link?.absoluteString
        content.coupon = opened.coupon
        content.sealed = opened.isSealed ? true : nil
        switch opened.state {
        case .loading: break
        case .ready: content.state = .ready
        case .missing(let error):
            content.state = .missing
            content.error = PhoneWords.sentence(for: error)
        case .failed(let error):
            content.state = .failed
            content.error = PhoneWords.sentence(for: error)
        }
        return content
    }

    func signIn(user: String, password: String) async throws(PhoneActionError) {
        let engine = try visibleApp()
        guard !view.signIn.busy else { throw .notPossible("The app is signing in already") }
        // Whatever is on the screen is of whoever was signed in before.
        leaveUser()
        view.signIn = .init(busy: true)
        publish()
        do throws(RichPushError) {
            try await engine.signIn(user: user, password: password)
            guard isRunning(engine) else { return }
            view.signIn = .init()
            view.undelivered = nil
            await readApp()
            _ = await engine.requestPermission(provisional: false)
            _ = try? await engine.refresh()
        } catch {
            guard isRunning(engine) else { return }
            view.signIn = .init(busy: false, error: PhoneWords.sentence(for: error))
        }
        await readApp()
        publish()
    }

    /// Whether the app that was asked is the one on the display: what a process says that has ended is seen by nobody.
    func isRunning(_ app: any AppRole) -> Bool { engine === app }

    func signOut() async throws(PhoneActionError) {
        let engine = try visibleApp()
        do throws(RichPushError) {
            let result = try await engine.signOut()
            guard isRunning(engine) else { return }
            view.undelivered = PhoneWords.sentence(for: result)
        } catch {
            guard isRunning(engine) else { return }
            throw .notPossible(PhoneWords.sentence(for: error))
        }
        leaveUser()
        await readApp()
        publish()
    }

    private func leaveUser() {
        closeContent()
        offers = []
        view.sending = .init()
    }

    func refreshInbox() async throws(PhoneActionError) {
        let engine = try visibleApp()
        do throws(RichPushError) {
            try await engine.refresh()
        } catch {
            await readApp()
            guard isRunning(engine) else { return }
            throw .notPossible(PhoneWords.sentence(for: error))
        }
        await readApp()
    }

    /// The app, while the user can touch it.
    func visibleApp() throws(PhoneActionError) -> any AppRole {
        guard system.process.isActive, !system.lock.isLocked, let engine else {
            throw .notPossible("The app is not on the display")
        }
        return engine
    }
}
