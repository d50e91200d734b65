"""The timeline of every push with its timings."""

import json

from .page import Failure, send_from_elsewhere


def rows(page):
    return page.driver.execute_script("""
      return [...document.querySelectorAll('[data-testid="timeline-row"]')].map((row) => ({
        phone: row.dataset.phoneId, rich: row.dataset.richId || null, state: row.dataset.state,
        at: Object.fromEntries([...row.querySelectorAll('td[data-station]')].map((cell) => [cell.dataset.station, Number(cell.dataset.at)]))}))""")


def one_row_for_each_push_and_phone(page, user):
    page.quiet()
    page.press("control-home")
    rich_id = str(send_from_elsewhere(page, user, {"message": "A row each", "kind": "text"})["id"])
    page.press("tab-timeline")
    mine = page.wait("a row for each phone of the user", lambda: (
        (found := [row for row in rows(page) if row["rich"] == rich_id]) and {row["phone"] for row in found} == {"1", "2"}
        and all({"accepted", "apns", "delivered", "shown"} <= row["at"].keys() for row in found) and found))
    for row in mine:
        way = [row["at"][station] for station in ("accepted", "apns", "delivered", "started", "fetched", "shown") if station in row["at"]]
        if way != sorted(way) or len(way) < 4:
            raise Failure(f"the moments of a push are not in their order: {row}")
    page.shot("timeline")


def filters_keep_what_was_asked_for(page, user):
    page.choose("timeline-phone", "3")
    page.wait("rows of bob's phone alone", lambda: {row["phone"] for row in rows(page)} == {"3"})
    page.choose("timeline-phone", "")
    page.choose("timeline-state", "failed")
    page.wait("failed pushes alone", lambda: {row["state"] for row in rows(page)} == {"failed"})
    page.choose("timeline-state", "")
    page.type("timeline-filter", "row each")
    page.wait("the rows with this text", lambda: len(rows(page)) == 2)
    if page.find("timeline-count").text.split(" of ")[0] != "2":
        raise Failure("the count does not say how many rows are left")


def details_tell_each_moment(page, user):
    page.press("timeline-open")
    page.wait("the moments in full", lambda: page.driver.execute_script(
        "return document.querySelectorAll('.journey-details dl div').length >= 4 && document.querySelectorAll('.journey-steps li').length >= 5"))
    page.shot("timeline-details")


def export_is_json_of_the_rows(page, user):
    page.catch_copies()
    page.press("timeline-export")
    exported = json.loads(page.last_copied("saved"))
    if len(exported) != 2 or {row["phone"]["id"] for row in exported} != {"1", "2"}:
        raise Failure("the export is not what the filter shows")
    if not all(row["at"]["shown"] and row["message"] == "A row each" and row["steps"] for row in exported):
        raise Failure("the export lacks moments or texts")
    page.type("timeline-filter", " ")


STEPS = [one_row_for_each_push_and_phone, filters_keep_what_was_asked_for, details_tell_each_moment, export_is_json_of_the_rows]
