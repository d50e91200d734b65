extension Migration {
    /// The index entries of users and installations with names that no tag could hold before; the others are there already.
    static let addresses = Migration(number: 9, name: "addresses of any characters") { _ in
        """
        INSERT INTO device_tags (hub_id, tag, slice_key)
        SELECT hub_id, '$userid:{' || user_id || '}', slice_key FROM devices
        WHERE kind = 'installation' AND user_id IS NOT NULL AND user_id NOT LIKE '%}%'
        ON CONFLICT DO NOTHING;
        INSERT INTO device_tags (hub_id, tag, slice_key)
        SELECT hub_id, '$installationid:{' || COALESCE(parent, record_id) || '}', slice_key FROM devices
        WHERE kind = 'installation' AND COALESCE(parent, record_id) NOT LIKE '%}%'
        ON CONFLICT DO NOTHING;
        """
    }
}
