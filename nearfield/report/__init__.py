"""Pictures and one HTML page of a result; matplotlib is imported when the first picture is drawn."""
