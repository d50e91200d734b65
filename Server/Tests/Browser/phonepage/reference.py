"""The page of the API, where calls are tried."""

from .page import Failure


def an_import_is_sent_with_the_only_type_it_takes(page, user):
    page.driver.get(page.base + "/docs/api#importUsers")
    form = "#importUsers form"
    page.wait("the form of the import", lambda: page.driver.execute_script(f"return document.querySelector('{form}') !== null"))
    line = page.driver.execute_script("return document.querySelector('#importUsers form').previousElementSibling"
                                      ".previousElementSibling.textContent")
    if "Content-Type: application/x-ndjson" not in line:
        raise Failure(f"the line for a shell has no type that the import takes: {line}")
    # No call leaves: what the page would send is kept.
    page.driver.execute_script("""
      window.fetch = async (path, request) => { window.tried = request.headers['Content-Type']; return new Response(''); };
      const files = new DataTransfer();
      files.items.add(new File(['{"name":"ann"}'], 'users.json', { type: 'application/json' }));
      const form = document.querySelector('#importUsers form');
      form.elements.file.files = files.files;
      form.requestSubmit();""")
    page.wait("the call", lambda: page.driver.execute_script("return window.tried"))
    tried = page.driver.execute_script("return window.tried")
    if tried != "application/x-ndjson":
        raise Failure(f"the import is sent as {tried}")


STEPS = [an_import_is_sent_with_the_only_type_it_takes]
