import DeviceSimulation
import Testing

@Suite("A push that shows nothing")
struct PushReasonTests {
    let fixture: PhoneFixture

    init() throws { fixture = try PhoneFixture() }

    @Test(
        "has the reason in its story",
        arguments: [
            (#"{"aps":{"alert":{"loc-key":"NO_KEY","loc-args":["x"]}}}"#, "The alert names texts of the app (loc-key)"),
            (#"{"aps":{"alert":{"title-loc-key":"NO_KEY"},"sound":"default"}}"#, "The alert names texts of the app (loc-key)"),
            (#"{"aps":{"sound":"default"}}"#, "There is only a sound"), (#"{"aps":{}}"#, "There is nothing to show"),
            (#"{"aps":{"alert":""}}"#, "There is nothing to show"), (#"{"x":1}"#, "There is no object 'aps'"),
            (#"{"aps":[1]}"#, "There is no object 'aps'"), ("[1]", "The phone cannot read the push"),
            ("no JSON", "The phone cannot read the push"),
            (#"{"aps":{"content-available":1}}"#, "The app passes over the push: it names no rich notification"),
        ])
    func reason(payload: String, message: String) async throws {
        try await fixture.signIn()
        try await fixture.phone.perform(.home)
        await fixture.service.push(payload, type: "alert")
        #expect(await fixture.reached(.held))
        let held = try #require(fixture.steps(.held).first)
        #expect(held.title.hasPrefix(message) && held.push == "apns-1", "\(held.title)")
        #expect(await fixture.phone.snapshot.notifications.isEmpty)
    }

    @Test("says that it changed the number on the icon, or why not")
    func badge() async throws {
        try await fixture.signIn()
        try await fixture.phone.perform(.home)
        await fixture.service.push(#"{"aps":{"badge":3}}"#, type: "alert")
        #expect(await fixture.reached(.shown))
        #expect(fixture.steps(.shown).map(\.title) == ["The icon shows the number 3"])
        #expect(await fixture.phone.snapshot.badge == 3)
        try await fixture.phone.perform(.setPermission(.denied))
        await fixture.service.push(#"{"aps":{"badge":4}}"#, type: "alert")
        #expect(await fixture.reached(.held))
        #expect(fixture.steps(.held).map(\.title) == ["Notifications of this app are off"])
    }
}
