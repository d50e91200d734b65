import Foundation
import RichPushDevice

extension RichPushConfiguration {
    /// What the app and its extensions agree on. The address is `clarion serve` on the same machine as the simulator; a real
    /// phone needs one with https.
    static let demo: RichPushConfiguration = {
        guard let backend = URL(string: "http://127.0.0.1:8080") else { preconditionFailure("that is no address") }
        var configuration = RichPushConfiguration(backend: backend, appGroup: "group.org.example.richpush")
        // The rich push tutorial's button sends a push, and the installation's own credential may not.
        configuration.keepsPasswordForSending = true
        configuration.refreshTask = "org.example.richpush.refresh"
        return configuration
    }()
}
