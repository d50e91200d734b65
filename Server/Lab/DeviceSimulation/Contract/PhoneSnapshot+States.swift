extension PhoneSnapshot {
    /// Which phone it is.
    public struct Identity: Hashable, Sendable, Codable {
        /// The id that routes and story steps use.
        public var id: String
        /// The owner's name for it, for example "Alice's phone".
        public var name: String
        /// The model, for display only.
        public var model: String
        /// Whom the page suggests for signing in; anybody may.
        public var owner: String?

        /// Creates an identity.
        public init(id: String, name: String, model: String, owner: String? = nil) {
            self.id = id
            self.name = name
            self.model = model
            self.owner = owner
        }
    }

    /// What the display shows.
    public enum Screen: String, Sendable, Codable, CaseIterable {
        case lock, home, signIn, main, content
    }

    public enum Network: String, Sendable, Codable, CaseIterable {
        case online, offline
        /// Every answer takes some seconds.
        case slow
    }

    /// Whether the app may show notifications.
    public enum Permission: String, Sendable, Codable, CaseIterable {
        case granted, denied, notDetermined
    }

    /// The states of an app's process.
    public enum ProcessState: String, Sendable, Codable, CaseIterable {
        /// On the display and receiving input.
        case active
        /// On the display without input: the phone is locked above it, or the notification centre is open.
        case inactive
        /// Runs for a moment without a display.
        case background
        /// In memory, not running.
        case suspended
        /// Never started, or removed by the system.
        case notRunning
        /// Removed by the user: the system does not start it for background pushes until the user does.
        case forceQuit
    }

    /// Something the user waits for.
    public struct Progress: Hashable, Sendable, Codable {
        public var busy: Bool
        /// Why it failed last time, in words for the user.
        public var error: String?

        /// Creates progress.
        public init(busy: Bool = false, error: String? = nil) {
            self.busy = busy
            self.error = error
        }
    }
}
