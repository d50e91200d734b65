import Testing
@testable import RichPushApp
@Test func nothing() {}
