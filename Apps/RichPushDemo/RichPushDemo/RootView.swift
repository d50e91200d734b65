import RichPushApp
import RichPushDevice
import RichPushModel
import RichPushUI
import SwiftUI

/// The sign-in, or what is behind it.
struct RootView: View {
    @ObservedObject var push: RichPush
    @ObservedObject var router: Router
    /// What the last sign-out could not send any more.
    @State private var lost: SignOutResult?

    var body: some View {
        VStack {
            switch push.state {
            case .starting: ProgressView("Starting")
            // Another user gets screens of their own, also when their session took the place of the one before.
            case .signedIn(let session): tabs(session.user).id(session.id)
            // One case, because each would have a form of its own: what the user typed is still there when a sign-in goes on.
            case .signedOut, .signingIn, .signInNeeded: SignInView(push: push, lost: push.state == .signedOut ? lost : nil)
            }
        }
    }

    private func tabs(_ user: String) -> some View {
        TabView(selection: $router.tab) {
            InboxScreen(push: push, router: router)
                .tabItem { Label("Inbox", systemImage: "tray") }
                .tag(Router.Tab.inbox)
            SendView(push: push, user: user)
                .tabItem { Label("Send", systemImage: "paperplane") }
                .tag(Router.Tab.send)
            SettingsView(push: push, user: user) { signedOut($0) }
                .tabItem { Label("Settings", systemImage: "gear") }
                .tag(Router.Tab.settings)
        }
    }

    private func signedOut(_ result: SignOutResult) {
        router.tab = .inbox
        lost = result
    }
}

/// The inbox, with the contents behind its entries.
struct InboxScreen: View {
    let push: RichPush
    @ObservedObject var router: Router

    var body: some View {
        NavigationStack(path: $router.path) {
            RichPushInboxView(push: push) { router.path.append($0.id) }
                .navigationDestination(for: RichID.self) { id in destination(id) }
        }
    }

    /// What a notification opened is shown as it goes on; the rest opens itself.
    @ViewBuilder private func destination(_ id: RichID) -> some View {
        if let content = router.opened[id] {
            RichPushContentView(content) { Task { await push.show(id) } }
        } else {
            RichPushContentScreen(id, push: push)
        }
    }
}
