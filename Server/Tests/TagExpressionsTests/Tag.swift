import RichPushModel

/// The test library has a `Tag` as well.
typealias Tag = RichPushModel.Tag
