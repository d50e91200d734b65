import RichPushApp
import RichPushDevice
import RichPushModel
import RichPushUI
import SwiftUI

/// The sign-in, or what is behind it.
struct RootView: View {
    let client: RichPushClient
    @ObservedObject var router: Router
    @State private var user: String?
    /// What the last sign-out could not send any more.
    @State private var lost: SignOutResult?

    var body: some View {
        VStack {
            if let user {
                tabs(user)
            } else {
                SignInView(client: client, lost: lost) { name in
                    user = name
                    lost = nil
                }
            }
        }
        .task { user = await client.user }
    }

    private func tabs(_ user: String) -> some View {
        TabView(selection: $router.tab) {
            InboxScreen(client: client, router: router)
                .tabItem { Label("Inbox", systemImage: "tray") }
                .tag(Router.Tab.inbox)
            SendView(client: client, user: user)
                .tabItem { Label("Send", systemImage: "paperplane") }
                .tag(Router.Tab.send)
            SettingsView(client: client, user: user) { signedOut($0) }
                .tabItem { Label("Settings", systemImage: "gear") }
                .tag(Router.Tab.settings)
        }
    }

    private func signedOut(_ result: SignOutResult) {
        router.tab = .inbox
        lost = result
        user = nil
    }
}

/// The inbox, with the contents behind its entries.
struct InboxScreen: View {
    let client: RichPushClient
    @ObservedObject var router: Router

    var body: some View {
        NavigationStack(path: $router.path) {
            RichPushInboxView(client: client) { router.path.append($0.id) }
                .navigationDestination(for: RichID.self) { id in destination(id) }
        }
    }

    /// What a notification opened is shown as it goes on; the rest opens itself.
    @ViewBuilder private func destination(_ id: RichID) -> some View {
        if let content = router.opened[id] {
            RichPushContentView(content) { Task { await client.engine.show(id) } }
        } else {
            RichPushContentScreen(id, client: client)
        }
    }
}
