// Empty: Testing looks for it when a module named SwiftUI is there.
