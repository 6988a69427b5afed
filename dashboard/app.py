"""The frame around every page: navigation, project and run, and what is running now."""

from pathlib import Path

import streamlit as st

from dashboard import layout, sidebar, state, trouble
from dashboard.pages import PAGES
from dashboard.server import startup
from dashboard.text import escape_md

HERE = Path(__file__).parent

st.set_page_config(page_title="crowdcore", page_icon=str(HERE / "icon.png"), layout="wide")
st.logo(str(HERE / "logo.svg"), size="large", icon_image=str(HERE / "icon.png"))

with trouble.explained():
    start = startup.begin(state.workspace().root)
    scripts = {
        entry.name: st.Page(
            entry.path,
            title=entry.title,
            icon=f":material/{entry.icon}:",
            default=entry is PAGES[0],
        )
        for entry in PAGES
    }
    sections = dict.fromkeys(entry.section for entry in PAGES)
    page = st.navigation(
        {
            section: [scripts[entry.name] for entry in PAGES if entry.section == section]
            for section in sections
        },
        expanded=True,  # every page in sight: nobody looks for what is hidden
    )
    layout.use_width()
    trouble.say_what_was_found()
    current = next(entry for entry in PAGES if scripts[entry.name] == page)

    if problem := state.settle(pin_run=current.is_about_a_run):
        st.toast(problem, icon=":material/link_off:", duration="long")
    sidebar.draw(start)
    if current.name != "guide":
        sidebar.link_to_guide(current.name)
    if not start.is_alive() and (problem := startup.wake_jobs(state.workspace())):
        st.error(escape_md(problem), icon=":material/error:")
    page.run()
