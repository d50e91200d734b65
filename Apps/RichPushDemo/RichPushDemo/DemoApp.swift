import RichPushApp
import RichPushDevice
import RichPushUI
import SwiftUI

/// Everything that rich push needs of an application delegate.
final class AppDelegate: RichPushAppDelegate {
    override class var configuration: RichPushConfiguration { .demo }
}

/// The rich push tutorial's app: sign in, send a push to yourself, and see its picture wherever it finds you.
@main
struct DemoApp: App {
    @UIApplicationDelegateAdaptor(AppDelegate.self) private var push
    @StateObject private var router = Router()

    var body: some Scene {
        WindowGroup {
            RootView(client: push.client, router: router)
                .richPush(push.client) {
                    router.show($0)
                } forget: {
                    router.forget()
                }
        }
    }
}
